//! The short examples do what they say.

#[path = "../examples/slow_node.rs"]
mod slow_node;

#[test]
fn the_slow_node_is_named() {
    slow_node::main().expect("it ends");
}
