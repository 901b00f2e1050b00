//! Cases of a test that has no standard harness, because its program starts itself again: the
//! driver of the cases, and the launcher and ranks that a case is about.

use std::process::ExitCode;

/// Why a case failed.
pub type Verdict = Result<(), String>;

/// A case by its name.
pub struct Case {
    pub name: String,
    pub run: Box<dyn Fn() -> Verdict>,
}

/// The first word of a program that is a part of a case.
pub(crate) const PART: &str = "run";

/// Words of the name are joined as those of a test's path.
pub fn case(name: impl Into<String>, run: impl Fn() -> Verdict + 'static) -> Case {
    Case { name: name.into().replace(' ', "::"), run: Box::new(run) }
}

/// What `main` does: plays the part that [`crate::marked::start`] started it for, given its words,
/// or drives the cases.
pub fn main(part: fn(&[&str]) -> u8, cases: fn() -> Vec<Case>) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [PART, ref words @ ..] => ExitCode::from(part(words)),
        _ => drive(&words, &cases()),
    }
}

/// Runs the cases whose name contains one of the words, or all. Understands what test runners ask
/// of a harness: `--list`, `--ignored` (there are none) and `--exact`.
fn drive(arguments: &[&str], cases: &[Case]) -> ExitCode {
    let asked = |flag: &str| arguments.contains(&flag);
    if asked("--list") {
        if !asked("--ignored") {
            cases.iter().for_each(|case| println!("{}: test", case.name));
        }
        return ExitCode::SUCCESS;
    }
    let words: Vec<&&str> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    let chosen = |case: &&Case| {
        let name = &case.name;
        let fits =
            |word: &&&str| if asked("--exact") { name == **word } else { name.contains(**word) };
        words.is_empty() || words.iter().any(fits)
    };
    let (mut passed, mut failed) = (0, 0);
    for Case { name, run } in cases.iter().filter(chosen) {
        match run() {
            Ok(()) => {
                passed += 1;
                println!("ok      {name}");
            }
            Err(why) => {
                failed += 1;
                println!("FAILED  {name}\n        {}", why.replace('\n', "\n        "));
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    /// Which cases run at these words, and whether all is said to be well.
    fn driven(words: &[&str]) -> (Vec<&'static str>, bool) {
        let ran = Rc::new(RefCell::new(Vec::new()));
        let noted = |name: &'static str, verdict: Verdict| {
            let ran = ran.clone();
            case(name, move || {
                ran.borrow_mut().push(name);
                verdict.clone()
            })
        };
        let bad = Err("on purpose\nand reported".into());
        let cases = [noted("good one", Ok(())), noted("good one more", Ok(())), noted("bad", bad)];
        let code = drive(words, &cases);
        let ran = ran.borrow().clone();
        (ran, format!("{code:?}") == format!("{:?}", ExitCode::SUCCESS))
    }

    #[test]
    fn words_choose_cases_and_one_that_fails_fails_all() {
        assert_eq!(driven(&["good"]), (vec!["good one", "good one more"], true));
        assert_eq!(driven(&["--exact", "good::one", "--nocapture"]), (vec!["good one"], true));
        assert_eq!(driven(&["one::more", "bad"]), (vec!["good one more", "bad"], false));
        assert_eq!(driven(&[]), (vec!["good one", "good one more", "bad"], false));
        // Nothing was tried, so nothing is well.
        assert_eq!(driven(&["nothing is called so"]), (vec![], false));
    }

    #[test]
    fn a_list_runs_nothing() {
        assert_eq!(driven(&["--list", "--format", "terse"]), (vec![], true));
        assert_eq!(driven(&["--list", "--ignored"]), (vec![], true));
    }
}
