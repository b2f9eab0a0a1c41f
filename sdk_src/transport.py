"""The only request that the SDK makes: a batch of calls to the service."""

__pragma__('skip')
AbortController = JSON = URL = clearTimeout = fetch = location = navigator = setTimeout = __new__ = None
__pragma__('noskip')

TIMEOUT = 10000  # milliseconds


async def post(url, body):
    """Send a batch; gives {status, results, wait}, or None when there was no usable answer.

    `wait` is the pause in seconds that the service asks for. Text is a content type without a preflight, and
    keepalive lets the request outlive the page.
    """
    aborter = __new__(AbortController())
    timer = setTimeout(lambda: aborter.abort(), TIMEOUT)
    request = {
        'method': 'POST',
        'body': body,
        'credentials': 'same-origin' if __new__(URL(url)).origin == location.origin else 'omit',
        'keepalive': True,
        'signal': aborter.signal,
    }
    try:
        return await read_answer(await fetch_alive(url, request))
    except:
        return None
    finally:
        clearTimeout(timer)


async def fetch_alive(url, request):
    """fetch, and again without keepalive where the page's budget for that (64 KiB in flight) is used up."""
    try:
        return await fetch(url, request)
    except:
        if request.signal.aborted:
            return None
        request.keepalive = False
        return await fetch(url, request)


async def read_answer(response):
    """What the service said."""
    answer = {'status': response.status, 'wait': +(response.headers.js_get('retry-after') or 0)}
    if response.ok:
        body = await response.json()  # a name of its own: Transcrypt drops the parentheses of (await x).y
        answer.results = body.results
    return answer


def send_on_leaving(url, body):
    """Send what nobody waits for any more, while the page goes away; whether the browser took it."""
    try:
        return navigator.sendBeacon(url, body)
    except:
        return False
