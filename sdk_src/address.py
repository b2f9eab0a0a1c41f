"""The page's address."""

from page import IS_BROWSER, of_document

__pragma__('skip')
from browser import __pragma__, URL, __new__, location

__pragma__('noskip')

# A frame without an address of its own, such as one with `srcdoc`, has that of the page that it is part of.
address = IS_BROWSER and (location if location.host else __new__(URL(of_document('baseURI'))))
