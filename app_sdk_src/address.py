"""Stands for the page's address in the modules that are the browser SDK's too."""

address = {'search': '', 'hash': '', 'origin': '', 'pathname': ''}  # an app has no page
