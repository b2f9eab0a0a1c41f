"""The rules of a link: what requests may say, what they do for a visit, and how people are told."""
