"""The pages for webhooks: addresses of the organization's own that are told what happens."""
