"""An example of a first-party proxy for the browser SDK."""
