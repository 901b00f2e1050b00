//! Names of hosts, sites and links, and the short form of many: `node[00-15,20]`.

use laneway_core::node_list;

use super::MOST_HOSTS;

/// Longer names than this are a mistake.
const MOST_LETTERS: usize = 64;

/// Whether a word can be a name. A colon cannot be in it: names that we make up have one.
pub(super) fn check(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > MOST_LETTERS || !name.chars().all(plain) {
        return Err(format!(
            "`{name}` is not a name: 1 to {MOST_LETTERS} of letters, digits, `-`, `_` and `.`"
        ));
    }
    Ok(())
}

/// The names that a pattern stands for, in order: one name, with a bracket or without.
pub(super) fn expand(pattern: &str) -> Result<Vec<String>, String> {
    let outside = pattern.split_once('[').map_or(pattern, |(before, _)| before);
    let after = pattern.split_once(']').map_or("", |(_, after)| after);
    if outside.contains(',') || after.contains(['[', ',']) {
        return Err(format!("`{pattern}` is more than a name with one bracket, like node[0-15]"));
    }
    let names = node_list::expand(pattern, MOST_HOSTS as usize)
        .map_err(|error| format!("`{pattern}`: {error}"))?;
    names.iter().try_for_each(|name| check(name))?;
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_expanded() {
        assert_eq!(expand("a"), Ok(vec!["a".to_string()]));
        assert_eq!(expand("n[8-10]").unwrap(), ["n8", "n9", "n10"]);
        assert_eq!(expand("n[08-10,3].x").unwrap(), ["n08.x", "n09.x", "n10.x", "n3.x"]);
    }

    #[test]
    fn invalid_names_are_refused() {
        let absurd = ["n[0-999999999]", "n[0-99999,0-99999]"];
        let odd = ["", "a b", "a:b", "é", "n[", "n[]", "n[a]", "n[3-1]", "n[-1]", "n[0-1][0-1]"];
        for bad in odd.into_iter().chain(absurd) {
            assert!(expand(bad).is_err(), "{bad}");
        }
        assert!(expand(&"n".repeat(65)).is_err());
        let long = "n".repeat(60);
        assert!(expand(&format!("{long}[0,00001,2]")).is_err());
        assert!(expand(&format!("{long}[0,0001,2]")).is_ok());
        assert!(expand("n[0-1] x").is_err());
    }
}
