"""Says to the modules that are the browser SDK's too that they may work."""

IS_BROWSER = True  # what calls them runs on a device
