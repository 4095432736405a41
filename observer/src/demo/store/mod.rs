//! The store behind all replicas: one thread, one lock, a protocol of its own.
//!
//! A question is the line `get NUMBER`, its answer the line `value NUMBER`; one question at a time on a connection.

mod asking;

use std::{convert::Infallible, io, sync::Arc};

pub(super) use asking::Store;
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::Mutex,
    time::sleep_until,
};

use super::{
    part::{Stage, listener},
    records::Fault,
    timetable::{Ongoing, Timetable},
};

/// What the store is told by the process that starts it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoreOptions {
    /// When its lock is held by something that is no question.
    pub(super) locked: Timetable,
}

/// Every answer is given under this lock, in the order of the questions.
type Lock = Mutex<()>;

/// Answers on the listening socket that is standard input.
pub(super) async fn run(options: StoreOptions, stage: &Stage) -> io::Result<()> {
    let listener = listener()?;
    let lock = Arc::new(Lock::default());
    let lock_up = options.locked.each(async |until| {
        let _held = lock.lock().await;
        let _on = Ongoing::begin(&stage.teller, Fault::StoreLocked);
        sleep_until(until).await;
        Ok(())
    });
    tokio::try_join!(accept(&listener, &lock), lock_up).map(drop)
}

async fn accept(listener: &TcpListener, lock: &Arc<Lock>) -> io::Result<Infallible> {
    loop {
        let (stream, _) = listener.accept().await?;
        let lock = Arc::clone(lock);
        // A replica that goes away concerns nobody else.
        tokio::spawn(async move { answer(stream, &lock).await.ok() });
    }
}

async fn answer(stream: TcpStream, lock: &Lock) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (reader, mut writer) = stream.into_split();
    let mut questions = BufReader::new(reader).lines();
    while let Some(question) = questions.next_line().await? {
        let _turn = lock.lock().await;
        let answer = match question.strip_prefix("get ") {
            Some(key) => format!("value {key}\n"),
            None => "what?\n".to_owned(),
        };
        writer.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn nobody_is_answered_while_the_lock_is_held() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let store = Store::at(listener.local_addr().unwrap());
        let lock = Arc::new(Lock::default());
        let held = Arc::clone(&lock).lock_owned().await;
        tokio::spawn(async move { accept(&listener, &lock).await });

        assert!(timeout(Duration::from_millis(50), store.ask(1)).await.is_err());
        drop(held);
        // The question that was given up has taken its connection with it, not the store.
        store.ask(2).await.unwrap();
        store.ask(3).await.unwrap();
    }
}
