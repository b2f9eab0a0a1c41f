"""Reports: saved views of an organization's analytics, which whoever has their URL may open."""
