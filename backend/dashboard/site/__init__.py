"""The pages for using the browser SDK on a site: its script tag, and the origins that may send calls."""
