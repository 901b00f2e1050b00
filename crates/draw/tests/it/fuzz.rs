//! Files damaged by chance: a text that is taken can be shown.

#[path = "../../../report/tests/damaged/mod.rs"]
mod damaged;

use laneway_draw::html;

#[test]
fn what_is_read_of_damaged_files_can_be_shown() {
    damaged::read_damaged(|name, run| {
        let page = html::render(name, &[run]);
        let drawn = page.split("<script>").next().unwrap_or_default();
        assert!(page.ends_with("</html>\n") && !drawn.contains("NaN"), "{page}");
    });
}
