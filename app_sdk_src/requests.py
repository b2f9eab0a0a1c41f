"""Requests to the service: what the outbox sends, and links that the app makes.

The build puts `fetch` into the place of the browser's, which the outbox calls with batches of calls. Opens are calls of
the outbox, so that they wait, are kept, and are sent in order as all others. Here each becomes a request of its own.
"""

from attribution import LAUNCHED_KEY
from clock import now
from consent import has_consent
from options import batch_url, options, service_url
from outbox import FINAL_STATUSES, REQUEST_TIMEOUT
from stores import local, saved, storage_key
from time_limit import within

__pragma__('skip')
from browser import __pragma__, JSON, Object, globalThis

__pragma__('noskip')

OPEN = 'open'  # the kind of the call that an open is in the outbox
OFFLINE_KEY = 'offline'  # under which is kept that the latest request had no answer
OK = 200


async def fetch(_, request):
    """Send a batch of the outbox, as the parts of which each is a request; gives what the outbox reads of a response.

    A part without an answer ends it. What was answered before has its results, and the rest waits.
    """
    await saved()  # if the app is ended now, its next start knows what was sent
    batch = JSON.parse(request.body)
    envelope = {'api_key': batch.api_key, 'install_id': batch.device_id, 'sdk': 'app-' + batch.sdk}
    if batch.erase:
        return as_response(await send(batch_url(), Object.assign(envelope, {'erase': True, 'sent_at': now()})))
    results = []
    for part in parts_of(batch.calls):
        answer = None
        try:
            answer = await send_part(part, envelope)
        except:
            local.write(storage_key(OFFLINE_KEY), 'yes')
            if not results.length:
                raise
        if answer:
            local.remove(storage_key(OFFLINE_KEY))
        part_results = answer and results_of(part, answer)
        if not part_results:
            return as_response(Object.assign({}, answer, {'content': {'results': results}}))
        results = results.concat(part_results)
    return as_response({'status': OK, 'content': {'results': results}})


def parts_of(calls):
    """The calls in their order: each open alone, and calls that follow each other together."""
    parts = []
    together = None
    for call in calls:
        if call.kind == OPEN:
            together = None
            parts.push([call])
        elif together:
            together.push(call)
        else:
            together = [call]
            parts.push(together)
    return parts


def send_part(calls, envelope):
    """Send an open, or calls that share a request; a promise of the answer."""
    if calls[0].kind == OPEN:
        return send(service_url('/serviceCore/app/v1/open'), open_body(calls[0], envelope))
    return send(batch_url(), Object.assign({}, envelope, {'sent_at': now(), 'calls': calls}))


def open_body(call, envelope):
    """The body that tells an open: the same at each attempt, but for what is known by now."""
    is_first_launch = not local.read(storage_key(LAUNCHED_KEY))
    return {
        'platform': options.platform,
        'install_id': envelope.install_id,
        'is_first_launch': is_first_launch,
        'open_id': call.call_id,
        'occurred_at': call.occurred_at,
        'sent_at': now(),
        'app_id': options.appId,
        'short_url': call.signals.short_url,
        'install_referrer': call.signals.install_referrer if is_first_launch else None,
        'clipboard_text': call.signals.clipboard_text if is_first_launch else None,
        'has_consent': has_consent(),
    }


async def send(url, body):
    """Post JSON. Gives status, content and the Retry-After header; an exception where there was no answer in time."""
    request = {
        'method': 'POST',
        'headers': {'Content-Type': 'application/json', 'API-KEY': options.apiKey},
        'body': JSON.stringify(body),
    }
    send_request = options.fetch or globalThis.fetch
    response = await within(REQUEST_TIMEOUT, send_request(url, request))
    content = None
    try:
        content = await within(REQUEST_TIMEOUT, response.json())
    except:
        pass
    content = content or {}
    return {'status': response.status, 'retry_after': response.headers.js_get('retry-after'), 'content': content}


def results_of(calls, answer):
    """A result for each call, if these words of the service end them; None if the calls have to be sent again."""
    content = answer.content
    if answer.status == OK:
        if content.results:
            return content.results
        return [Object.assign({'call_id': calls[0].call_id}, content)] if content.match else None
    if is_refusal(answer):
        return calls.map(lambda call: {'call_id': call.call_id, 'error': content.error})
    return None


def is_refusal(answer):
    """Whether the service itself refuses a request for good. Firewalls and portals answer with the same statuses."""
    content = answer.content
    return FINAL_STATUSES.test('' + answer.status) and content.code > 0 and content.error


def as_response(answer):
    """An answer as the outbox reads it."""
    return {
        'status': answer.status,
        'headers': {'get': lambda _: answer.retry_after},
        'json': lambda: answer.content,
    }
