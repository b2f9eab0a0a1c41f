"""Operations that schemathesis (test_openapi) sends one example only, which is here."""

# Others try the bodies of these: operations on single links try those of a bulk, and what makes something has
# the fields of what changes it. The body of post_funnel is that of ask_funnel with a name, and filters that
# are too long for it are no funnel. post_alert_rule and preview_alert_rule have one body. The questions
# about cohorts, times to a sale and new customers take the filters of query_analytics: most of their fields.
# post_report takes what each of the questions takes.
TRIED_BY_OTHERS: dict[str, object] = {
    "bulk_links": {"operations": [{"op": "archive", "id": "00000000-0000-0000-0000-000000000007"}]},
    "duplicate_link": {"link_name": "Copy"},
    "patch_alert_rule": {"name": "Loud"},
    "patch_annotation": {"text": "Fair"},
    "patch_funnel": {"name": "Checkout"},
    "patch_report": {"name": "Spring"},
    "patch_template": {"utm_source": "mail"},
    "patch_webhook": {"is_enabled": False},
    "post_funnel": {"name": "Checkout", "steps": [{"kind": "click"}, {"kind": "conversion"}]},
    "post_report": {"name": "Spring", "query": {"measures": ["clicks"], "period": "last_28_days"}},
    "preview_alert_rule": {"name": "Loud", "kind": "spike"},
    "query_cohorts": {"weeks": 2},
    "query_new_and_returning": {"period": "last_7_days"},
    "query_time_to_sale": {"period": "last_7_days"},
}
