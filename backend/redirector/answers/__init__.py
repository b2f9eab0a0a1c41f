"""What visitors get: redirects, pages, images and the files of apps."""
