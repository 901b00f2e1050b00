//! Text in the format of Prometheus, for a collector that reads files.

use std::fmt::{Display, Write};

/// Label names and values.
pub type Labels = Vec<(&'static str, String)>;

/// A page of metrics in the Prometheus text format.
///
/// ```
/// use laneway_core::prometheus::Page;
///
/// let mut page = Page::new("laneway_demo_");
/// let samples = [(vec![("host", "a".to_string())], 2)];
/// page.metric("slow_pairs", "gauge", "Slow pairs of a host.", samples);
/// assert!(page.text().ends_with("laneway_demo_slow_pairs{host=\"a\"} 2\n"));
/// ```
pub struct Page {
    prefix: &'static str,
    text: String,
}

impl Page {
    /// An empty page; the names of its metrics begin with the prefix.
    pub fn new(prefix: &'static str) -> Page {
        Page { prefix, text: String::new() }
    }

    /// The complete text.
    pub fn text(self) -> String {
        self.text
    }

    /// Adds a metric of this kind (`gauge`, `counter`) with its samples.
    pub fn metric<V: Display>(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels, V)>,
    ) {
        self.head(name, kind, help);
        samples.into_iter().for_each(|(labels, value)| self.sample(name, &labels, value));
    }

    /// A histogram: for each set of labels the counts between the limits, one more than there are
    /// limits, and the sum of what was counted.
    pub fn histogram(
        &mut self,
        name: &str,
        help: &str,
        limits: &[f64],
        samples: impl IntoIterator<Item = (Labels, Vec<u64>, f64)>,
    ) {
        self.head(name, "histogram", help);
        for (labels, counts, sum) in samples {
            let mut all = 0;
            for (at, count) in counts.iter().enumerate() {
                all += count;
                let limit = limits.get(at).map_or("+Inf".into(), f64::to_string);
                let mut labels = labels.clone();
                labels.push(("le", limit));
                self.sample(&format!("{name}_bucket"), &labels, all);
            }
            self.sample(&format!("{name}_sum"), &labels, sum);
            self.sample(&format!("{name}_count"), &labels, all);
        }
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let prefix = self.prefix;
        // A string takes everything.
        _ = writeln!(self.text, "# HELP {prefix}{name} {help}");
        _ = writeln!(self.text, "# TYPE {prefix}{name} {kind}");
    }

    fn sample<V: Display>(&mut self, name: &str, labels: &Labels, value: V) {
        let pair = |(name, value): &(&str, String)| format!("{name}=\"{}\"", escape(value));
        let labels: Vec<String> = labels.iter().map(pair).collect();
        let labels = match labels.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", labels.join(",")),
        };
        _ = writeln!(self.text, "{}{name}{labels} {value}", self.prefix);
    }
}

fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_buckets_add_up() {
        assert_eq!(escape("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
        let mut page = Page::new("p_");
        page.histogram("t", "Times.", &[0.5, 1.0], [(Labels::new(), vec![1, 0, 2], 4.25)]);
        assert_eq!(
            page.text(),
            "# HELP p_t Times.\n# TYPE p_t histogram\np_t_bucket{le=\"0.5\"} 1\n\
             p_t_bucket{le=\"1\"} 1\np_t_bucket{le=\"+Inf\"} 3\np_t_sum 4.25\np_t_count 3\n"
        );
    }
}
