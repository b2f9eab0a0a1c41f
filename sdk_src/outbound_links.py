"""The option `outboundLinks`: clicks on links that leave the site, on files, and on addresses of mail and phones."""

from address import address
from page import IS_BROWSER
from parts import address_of, link_of, take_option

__pragma__('skip')
from browser import __pragma__, RegExp, URL, __new__, addEventListener, document, setTimeout

__pragma__('noskip')

OPTION = 'outboundLinks'
MAX_URL_CHARACTERS = 1000
DOWNLOAD = 'file_download'
# Of events, by the scheme of the link: addresses of people, and files that a script of the page has made.
NAMES = {'mailto:': 'email_click', 'tel:': 'phone_click', 'blob:': DOWNLOAD, 'data:': DOWNLOAD}
FILES = RegExp(
    '\\.(7z|aac|apk|avi|bz2|csv|dmg|docx?|epub|exe|flac|gz|ics|iso|jar|key|m4a|mkv|mobi|mov|mp[34]|mpe?g|msi|numbers'
    + '|od[pst]|ogg|pages|pdf|pkg|pptx?|rar|rtf|tar|tgz|txt|wav|webm|wm[av]|xlsx?|xz|zip)$',
    'i',
)
waylink = {}  # the page's; its `outboundLinks` says whether this part, or another copy of it, listens
clicks = []  # on links, which the page's own scripts may still call off


def install(page_waylink, tag):
    """Take the option from `init`, or from the script's tag where it has the attribute."""
    global waylink
    waylink = page_waylink
    take_option(waylink, OPTION, watch_clicks, tell_clicks)
    choice = tag and tag.dataset.outboundLinks
    watch_clicks(choice != None and choice != 'false')


def watch_clicks(is_on):
    """Listen before all scripts of the page, since these may stop the event."""
    if IS_BROWSER and is_on and not waylink[OPTION]:
        waylink[OPTION] = True
        addEventListener('click', on_click, True)
        addEventListener('auxclick', on_click, True)
        addEventListener('pagehide', tell_clicks)


def on_click(event):
    """Note a click on a link, and tell it once all scripts have heard of it."""
    try:
        link = link_of(event)
        told = link and describe(link)
        if told:
            clicks.push({'event': event, 'event_name': told.event_name, 'fields': told.fields})
            setTimeout(tell_clicks)
    except:
        pass


def describe(link):
    """The event that a click on this link is, or None. Of an address it holds the origin and the path.

    The rest of an address can be private, and so can a mail address or a phone number. A file of the page has none.
    """
    url = __new__(URL(address_of(link), document.baseURI))
    if NAMES[url.protocol]:
        return {'event_name': NAMES[url.protocol]}
    is_file = link.hasAttribute('download') or FILES.test(url.pathname)
    if url.protocol.startsWith('http') and (is_file or url.host != address.host):
        return {
            'event_name': DOWNLOAD if is_file else 'outbound_click',
            'fields': {'metadata': {'url': (url.origin + url.pathname).slice(0, MAX_URL_CHARACTERS)}},
        }
    return None


def tell_clicks():
    """Tell the clicks that no script of the page has called off."""
    for click in clicks.splice(0):
        if not click.event.defaultPrevented:
            waylink.trackEvent(click.event_name, click.fields)
