"""The pages for the site that uses the browser SDK: its snippet, and the origins that may send calls."""
