//! XML through `roxmltree`: elements with their lines, and nothing that stands for more than it is
//! long.

use roxmltree::{Document, Error, Node, ParsingOptions};

use super::ReadError;
use super::cursor::Cursor;

/// Elements and texts of a document at most: a platform of 1,024 hosts has half of it.
const MOST_NODES: u32 = 1 << 24;

/// Attributes of one element at most: each is compared with all others.
const MOST_ATTRIBUTES: usize = 256;

/// Namespaces of a document at most: an element has a copy of all that are around it.
const MOST_NAMESPACES: usize = 16;

/// The tree of a document, which refers to its text.
pub fn parse(text: &str) -> Result<Document<'_>, ReadError> {
    ensure_plain(text)?;
    let options =
        ParsingOptions { allow_dtd: true, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| {
        let line = match error {
            // What is missing is missing at the end.
            Error::NoRootNode | Error::UnclosedRootNode | Error::UnexpectedEndOfStream => {
                1 + text.bytes().filter(|&byte| byte == b'\n').count()
            }
            _ => error.pos().row as usize,
        };
        ReadError::new(line, error.to_string())
    })
}

/// Refuses what would take more time or memory to parse than its length explains: definitions of
/// entities, very many attributes of one element, and very many namespaces.
fn ensure_plain(text: &str) -> Result<(), ReadError> {
    let refused = |at: usize, what: String| {
        let line = 1 + text[..at].bytes().filter(|&byte| byte == b'\n').count();
        Err(ReadError::new(line, what))
    };
    if let Some(at) = text.find("<!ENTITY") {
        return refused(at, "a document type that defines entities is not read".to_string());
    }
    if let Some((at, _)) = text.match_indices("xmlns").nth(MOST_NAMESPACES) {
        return refused(at, format!("more than {MOST_NAMESPACES} namespaces"));
    }
    // No value of an attribute has a `<`, so that all attributes of an element stand before the
    // next one.
    let mut at = 0;
    for piece in text.split('<') {
        let is_value = |rest: &str| rest.trim_start().starts_with(['"', '\'']);
        if piece.split('=').skip(1).filter(|rest| is_value(rest)).count() > MOST_ATTRIBUTES {
            return refused(at, format!("more than {MOST_ATTRIBUTES} attributes"));
        }
        at += piece.len() + 1;
    }
    Ok(())
}

/// An element and the line that it begins in.
#[derive(Clone, Copy)]
pub struct Element<'a> {
    pub line: usize,
    node: Node<'a, 'a>,
}

impl<'a> Element<'a> {
    pub fn name(&self) -> &'a str {
        self.node.tag_name().name()
    }

    /// The name of the element that it is in.
    pub fn parent(&self) -> Option<&'a str> {
        self.node.parent_element().map(|parent| parent.tag_name().name())
    }

    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.node.attribute(name)
    }

    pub fn need(&self, name: &str) -> Result<&'a str, ReadError> {
        let missing = || ReadError::new(self.line, format!("a <{}> without `{name}`", self.name()));
        self.get(name).ok_or_else(missing)
    }

    /// The elements in it, in the line that it begins in itself.
    pub fn children(&self) -> impl Iterator<Item = Element<'a>> + use<'a> {
        let line = self.line;
        let children = self.node.children().filter(Node::is_element);
        children.map(move |node| Element { line, node })
    }
}

/// All elements in their order. A text other than white space is an error.
pub fn elements<'a>(
    document: &'a Document<'a>,
) -> impl Iterator<Item = Result<Element<'a>, ReadError>> {
    let (mut cursor, mut at) = (Cursor::new(document.input_text()), 0);
    document.descendants().filter_map(move |node| {
        let start = node.range().start;
        cursor.advance(start.saturating_sub(at));
        at = start.max(at);
        let line = cursor.line;
        if node.is_element() {
            return Some(Ok(Element { line, node }));
        }
        let text = node.text().filter(|_| node.is_text())?;
        let words = text.trim_start();
        let above = text[..text.len() - words.len()].bytes().filter(|&byte| byte == b'\n').count();
        let what = "a text is neither an element nor a comment";
        (!words.is_empty()).then(|| Err(ReadError::new(line + above, what)))
    })
}
