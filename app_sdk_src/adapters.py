"""Adapters: each makes of a platform's module, which the app hands in, what `init` takes."""

__pragma__('skip')
from browser import __pragma__, JSON, Object

__pragma__('noskip')


def memory_storage():
    """A storage that ends with the process: for tests."""
    texts = {}

    async def get_item(key):
        return texts[key]

    async def set_item(key, text):
        texts[key] = text

    return {'getItem': get_item, 'setItem': set_item}


def preferences_storage(preferences):
    """Capacitor's Preferences as a storage."""

    async def get_item(key):
        kept = await preferences.js_get({'key': key})
        return kept.value

    return {
        'getItem': get_item,
        'setItem': lambda key, text: preferences.set({'key': key, 'value': text}),
    }


def file_storage(files, path):
    """A file as a storage, by Node.js's `fs/promises`. A write replaces it whole."""
    texts = None

    async def read():
        nonlocal texts
        if not texts:
            try:
                texts = JSON.parse(await files.readFile(path, 'utf8'))
            except:
                texts = {}
        return texts

    async def get_item(key):
        kept = await read()
        return kept[key]

    async def set_item(key, text):
        kept = await read()
        kept[key] = text
        await files.writeFile(path + '.new', JSON.stringify(kept))
        await files.rename(path + '.new', path)

    return {'getItem': get_item, 'setItem': set_item}


def linking_addresses(linking):
    """The opened addresses of React Native's or Expo's Linking."""

    def initial():
        return linking.getInitialURL()

    return {
        'initial': initial,
        'listen': lambda on_address: linking.addEventListener('url', lambda event: on_address(event.url)),
    }


def capacitor_addresses(app):
    """The opened addresses of Capacitor's App."""

    async def initial():
        launch = await app.getLaunchUrl()
        return launch and launch.url

    return {
        'initial': initial,
        'listen': lambda on_address: app.addListener('appUrlOpen', lambda event: on_address(event.url)),
    }


def capacitor_fetch(http):
    """CapacitorHttp as the network: the web view's own asks the service for permission, which apps have none of."""

    async def fetch(url, request):
        asked = {'url': url, 'method': request.method, 'headers': request.headers, 'data': JSON.parse(request.body)}
        answer = await http.request(asked)
        headers = answer.headers or {}

        def header(wanted):
            found = Object.js_keys(headers).find(lambda given: given.toLowerCase() == wanted)
            return found and headers[found]

        async def read_json():
            return answer.data

        return {'status': answer.status, 'headers': {'get': header}, 'json': read_json}

    return fetch
