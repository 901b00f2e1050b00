//! Advice on models.

use laneway_model::ModelError;

use super::Advised;
use crate::failure::Exit;

impl Advised for ModelError {
    fn exit(&self) -> Exit {
        match self {
            ModelError::Budget { .. } => Exit::Precision,
            ModelError::DoesNotHold { .. } => Exit::Gate,
            ModelError::Comm(_) => Exit::Environment,
            _ => Exit::Usage,
        }
    }

    fn what(&self) -> String {
        ModelError::what(self)
    }

    fn cause(&self) -> String {
        ModelError::cause(self)
    }

    fn advice(&self) -> String {
        let advice = match self {
            ModelError::Missing { .. } => {
                "estimate again with this experiment, or fit a model that does without it"
            }
            ModelError::Sample { .. } => {
                "measure again; a clock that was set meanwhile gives such figures"
            }
            ModelError::TooFewRanks { .. } => {
                "more ranks, or a model that needs pairs alone, such as Hockney's"
            }
            ModelError::Sizes { .. } => "several sizes that differ, such as 4K,32K,256K",
            ModelError::Request { .. } => "see docs/model.md",
            ModelError::Budget { seconds, spent, .. } => {
                let more = (4.0 * seconds.max(*spent)).max(0.1);
                return format!("--total-budget {more:.1}, or fewer or shorter --sizes");
            }
            ModelError::DoesNotHold { .. } => {
                "the platform's own simulation, or measuring the algorithms themselves"
            }
            ModelError::Ranks { model, .. } => {
                return format!(
                    "--ranks {model}, --like HOST for more ranks on copies of a host, or laneway \
                     model fit with more ranks"
                );
            }
            ModelError::File { .. } => "laneway model fit -o tonight.toml, which writes one",
            ModelError::Refused { .. } => "another algorithm",
            ModelError::Schedule(_) => "laneway check, which shows the algorithm that is wrong",
            _ => "",
        };
        advice.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_that_was_spent_is_answered_with_a_larger_one() {
        let error = ModelError::Budget { seconds: 1.0, spent: 2.0, before: "round trips" };
        assert_eq!(error.exit(), Exit::Precision);
        assert_eq!(error.advice(), "--total-budget 8.0, or fewer or shorter --sizes");
        let file = ModelError::File { name: "m.toml".into(), line: 4, why: "no hosts".into() };
        let shown = file.failure().to_string();
        assert!(
            shown.starts_with("error: m.toml:4: not a model\ncause: no hosts\ntry:"),
            "{shown}"
        );
    }
}
