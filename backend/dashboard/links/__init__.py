"""The pages for links: the list, a single link with its clicks, and the forms to create and change a link."""
