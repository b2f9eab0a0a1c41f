"""What browser, Transcrypt and build provide, for linters and type checkers; nothing of this file reaches a page.

Modules import from here what they use, in a block that Transcrypt skips.
"""

from typing import Any

__new__: Any
__pragma__: Any
AbortSignal: Any
Array: Any
addEventListener: Any
clearTimeout: Any
console: Any
crypto: Any
Date: Any
dispatchEvent: Any
Document: Any
document: Any
fetch: Any
globalThis: Any
History: Any
history: Any
js_TypeError: Any
JSON: Any
location: Any
Math: Any
navigator: Any
Number: Any
Object: Any
parseInt: Any
performance: Any
Promise: Any
Proxy: Any
Reflect: Any
RegExp: Any
setTimeout: Any
StorageEvent: Any
TextEncoder: Any
top: Any
typeof: Any
Uint8Array: Any
URL: Any
URLSearchParams: Any
WAYLINK_VERSION: Any
window: Any
