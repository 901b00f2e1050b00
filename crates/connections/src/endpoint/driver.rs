//! The endpoint as one of the drivers that are alike.

use std::time::Duration;

use laneway_path::PathId;

use super::{ConnectionId, Endpoint, Notice};
use crate::driver::{Driver, Status};
use crate::error::NetError;

impl Driver for Endpoint {
    fn describe(&self) -> String {
        let at: Vec<String> = self.addresses().iter().map(ToString::to_string).collect();
        format!("UDP, software migration, at {}", at.join(" and "))
    }

    fn send(&mut self, to: ConnectionId, id: u64, message: Vec<u8>) -> Result<(), NetError> {
        Endpoint::send(self, to, id, message)
    }

    fn post_receive(&mut self, of: ConnectionId, id: u64, buffer: Vec<u8>) -> Result<(), NetError> {
        Endpoint::post_receive(self, of, id, buffer)
    }

    fn specify(&mut self, of: &[ConnectionId], path: PathId) -> Result<(), NetError> {
        Endpoint::specify(self, of, path)
    }

    fn load(&mut self, of: &[ConnectionId]) -> Result<(), NetError> {
        Endpoint::load(self, of)
    }

    fn migrate(&mut self, of: &[ConnectionId]) -> Result<(), NetError> {
        Endpoint::migrate(self, of)
    }

    fn status(&self, of: ConnectionId) -> Result<Status, NetError> {
        self.get(of).map(Status::from)
    }

    fn progress(&mut self) -> bool {
        Endpoint::progress(self)
    }

    fn wait(&mut self, limit: Duration) -> bool {
        Endpoint::wait(self, limit)
    }

    fn poll(&mut self) -> Option<Notice> {
        Endpoint::poll(self)
    }

    fn close(&mut self, connection: ConnectionId) -> Result<(), NetError> {
        Endpoint::close(self, connection)
    }
}
