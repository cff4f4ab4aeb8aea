"""Customary names of arguments for pages, sorting, queries and options."""

from __future__ import annotations

from mcp_sim.types.lexicon.english import vocabulary

LIMITS = vocabulary(
    "limit page_size per_page max_results max_count maxcount size top first num_results number_of_results result_limit "
    "results_per_page limit_results page_limit max_items max_entries count num n"
)
OFFSETS = vocabulary("offset skip start start_index start_at startat first_result")
PAGES = vocabulary("page page_number page_num page_index page_no")
CURSORS = vocabulary(
    "cursor page_token next_page_token after next_token next_cursor starting_after continuation_token marker "
    "start_cursor"
)
QUERIES = vocabulary(
    "query q search keyword keywords term search_term search_query search_text query_text text_query terms text "
    "search_string filter_text"
)
SORTS = vocabulary("sort sort_by order_by sortby orderby sort_field sort_key sort_column")
ORDERS = vocabulary("order sort_order direction sort_direction sort_dir order_direction ascending descending")
OPTIONS = vocabulary(
    "dry_run force confirm confirmed verbose notify silent expand include exclude fields format output_format debug "
    "response_format request_id idempotency_key expected_version if_match api_key timezone_offset "
    "include_deleted pretty raw wait timeout "
    "send_notification send_notifications random_string ctx context user_context dummy access_token accesstoken "
    "api_token apikey apitoken auth_token bearer_token token client_secret secret_key"
)
CONTAINERS = vocabulary(
    "fields properties data attributes values updates update changes patch body input payload params set document"
)
