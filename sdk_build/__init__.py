"""Builds sdk_dist/ from sdk_src/: Transcrypt compiles the Python, esbuild bundles and minifies it."""
