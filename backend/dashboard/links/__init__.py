"""The pages of links: the list, a link with its clicks, and the forms that make and change one."""
