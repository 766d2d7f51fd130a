//! Recordings that come from a browser: streamed to a file of no name, which gets its name when it is whole.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Json};
use http_body_util::BodyExt as _;
use intervalid_data::EXTENSIONS;
use intervalid_files::temporary_file;
use serde_json::json;

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::workspace::is_record;

/// Takes a file; one that is there is never replaced.
pub(crate) async fn upload(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    mut body: Body,
) -> ApiResult<impl IntoResponse> {
    let most = app.limits.upload_bytes;
    let too_large = || {
        let message = format!(
            "{name}: larger than {} MB: put the file into the workspace's folder instead",
            most >> 20
        );
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    };
    if !is_record(&name) {
        return Err(ApiError::bad(format!(
            "'{name}' is no recording: expected one of .{}",
            EXTENSIONS.join(", .")
        )));
    }
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if announced
        .and_then(|text| text.parse::<u64>().ok())
        .is_some_and(|bytes| bytes > most)
    {
        return Err(too_large());
    }
    let place = app.workspace.new_place(&name)?;
    let failed = |error: std::io::Error| ApiError::io(&format!("{name} cannot be written"), &error);
    let mut file = temporary_file(app.workspace.root()).map_err(failed)?;
    let patience = Duration::from_secs_f64(app.limits.upload_idle_seconds);
    let mut bytes: u64 = 0;
    loop {
        let frame = match tokio::time::timeout(patience, body.frame()).await {
            Ok(Some(Ok(frame))) => frame,
            Ok(None) => break,
            Ok(Some(Err(_))) => return Err(ApiError::bad(format!("{name}: the connection broke"))),
            Err(_) => {
                let message = format!("{name}: nothing came for {} s", patience.as_secs_f64());
                return Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, message));
            }
        };
        if let Ok(data) = frame.into_data() {
            bytes += data.len() as u64;
            if bytes > most {
                return Err(too_large());
            }
            file.write_all(&data).map_err(failed)?;
        }
    }
    let id = name.clone();
    app.work(move |app| {
        let name = id;
        let failed = |error: std::io::Error| ApiError::io(&format!("{name} cannot be written"), &error);
        file.as_file().sync_all().map_err(failed)?;
        file.persist_noclobber(&place)
            .map_err(|error| match error.error.kind() {
                std::io::ErrorKind::AlreadyExists => {
                    ApiError::conflict(format!("there is a file named '{name}' already"))
                }
                _ => failed(error.error),
            })?;
        app.queue.tell_listing();
        Ok(())
    })
    .await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": name, "bytes": bytes }))))
}
