"""Operations that schemathesis (test_openapi) sends one example only."""

# Others try the bodies of these: operations on single links try those of a bulk, and what makes something has
# the fields of what changes it. The body of post_funnel is that of ask_funnel with a name, and filters that
# are too long for it are no funnel. post_alert_rule and preview_alert_rule have one body. The questions
# about cohorts, times to a sale and new customers take the filters of query_analytics: most of their fields.
# post_report takes what each of the questions takes.
TRIED_BY_OTHERS = [
    "bulk_links", "duplicate_link", "patch_alert_rule", "patch_annotation", "patch_funnel", "patch_report",
    "patch_template", "patch_webhook", "post_funnel", "post_report", "preview_alert_rule", "query_cohorts",
    "query_new_and_returning", "query_time_to_sale",
]  # fmt: skip
