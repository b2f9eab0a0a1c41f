"""The HTML pages that visitors of short URLs see. The redirector answers with them, the dashboard shows how
they look."""
