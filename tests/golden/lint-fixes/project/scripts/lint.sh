#!/bin/sh
# Says of each old name in the report and its page what is wrong with it, as S2 incidents.
printf '['
grep -n -o 'old_[a-z]*' src/shop/report.py docs/report.md | {
    comma=''
    while IFS=: read -r file line name; do
        printf '%s\n  {"rule_id": "old-name", "file_path": "%s", "line_number": %s, "severity": "warning",' \
            "$comma" "$file" "$line"
        printf ' "description": "Names that are no longer there", "message": "%s is gone", "category": "names"}' "$name"
        comma=','
    done
}
printf '\n]\n'
