//! Addresses, and what is behind them.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, FromRequest, Path, Query, Request, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use futures_util::stream;
use intervalid_report::folder::REPORT;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::choice::{Choice, Chosen, check_seen};
use crate::guard::guard;
use crate::remarks::Remark;
use crate::{analysis, assets, job, overlay, queue, tracks, upload, whatif};

type Shared = State<Arc<App>>;

/// Larger requests are refused; uploads count for themselves.
const MOST_BYTES: usize = 2 << 20;
/// Events come no faster.
const BETWEEN_EVENTS: Duration = Duration::from_millis(200);
/// A line now and then keeps a quiet stream alive.
const QUIET: Duration = Duration::from_secs(15);

/// A report runs its own script and nothing else, and as a stranger: it can ask nothing of this server, whoever wrote it.
const REPORT_POLICY: &str = "sandbox allow-scripts allow-popups; default-src 'none'; script-src 'unsafe-inline'; \
                             style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'";

/// All addresses, guarded.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(|| async { assets::page() }))
        .route(
            "/assets/{name}",
            get(|Path(name): Path<String>| async move { assets::file(&name) }),
        )
        .route("/api/data", get(records))
        .route("/api/data/{id}", get(view).put(upload::upload))
        .route("/api/data/{id}/view", post(view_as))
        .route("/api/data/{id}/choice", post(choose))
        .route("/api/data/{id}/series", get(series))
        .route("/api/jobs", get(jobs).post(order))
        .route("/api/jobs/{id}/cancel", post(cancel))
        .route("/api/jobs/{id}/again", post(again))
        .route("/api/jobs/{id}/forget", post(forget))
        .route("/api/events", get(events))
        .route("/api/fits", get(fits))
        .route("/api/fits/{name}", get(interface))
        .route("/api/fits/{name}/rename", post(rename))
        .route("/api/fits/{name}/discard", post(discard))
        .route("/api/fits/{name}/remark", post(remark))
        .route("/api/bin/{name}/restore", post(restore))
        .route("/api/bin/{name}/erase", post(erase))
        .route("/api/overlay", post(show))
        .route("/api/analysis", post(analyse))
        .route("/api/fits/{name}/whatif", post(what_if))
        .route("/api/fits/{name}/inputs", get(inputs))
        .route("/api/fits/{name}/words", get(words))
        .route("/fits/{name}/report", get(report))
        .route("/fits/{name}/download/{what}", get(download))
        .fallback(|| async { ApiError::not_found("there is nothing at this address") })
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .layer(from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

/// A body of JSON; what is wrong with it is said as everything else is.
struct Read<T>(T);

impl<T: serde::de::DeserializeOwned, S: Send + Sync> FromRequest<S> for Read<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> ApiResult<Self> {
        let read: Result<Json<T>, JsonRejection> = Json::from_request(request, state).await;
        match read {
            Ok(Json(value)) => Ok(Self(value)),
            Err(error) => Err(ApiError::new(error.status(), error.body_text())),
        }
    }
}

async fn records(State(app): Shared) -> ApiResult<impl IntoResponse> {
    Ok(Json(json!({ "records": app.work(|app| app.records()).await? })))
}

async fn view(State(app): Shared, Path(id): Path<String>) -> ApiResult<impl IntoResponse> {
    Ok(Json(app.work(move |app| app.view(&id, None)).await?))
}

/// What would be if it were chosen; nothing is remembered.
async fn view_as(
    State(app): Shared,
    Path(id): Path<String>,
    Read(choice): Read<Choice>,
) -> ApiResult<impl IntoResponse> {
    Ok(Json(app.work(move |app| app.view(&id, Some(choice))).await?))
}

async fn choose(
    State(app): Shared,
    Path(id): Path<String>,
    Read(chosen): Read<Chosen>,
) -> ApiResult<impl IntoResponse> {
    let Chosen { choice, revision } = chosen;
    let chosen = app.work(move |app| app.choose(&id, choice, revision.as_deref()));
    Ok(Json(chosen.await?))
}

#[derive(Deserialize)]
struct Stretch {
    #[serde(default)]
    from: usize,
    to: Option<usize>,
    pixels: Option<usize>,
    #[serde(default)]
    before: bool,
    /// As JSON; the stored one where there is none.
    choice: Option<String>,
}

async fn series(
    State(app): Shared,
    Path(id): Path<String>,
    Query(asked): Query<Stretch>,
) -> ApiResult<impl IntoResponse> {
    let choice = asked.choice.as_deref().map(serde_json::from_str::<Choice>).transpose();
    let choice = choice.map_err(|error| ApiError::bad(format!("the choice cannot be read: {error}")))?;
    let series = app.work(move |app| {
        let choice = choice.or_else(|| app.stored_choice(&id)).unwrap_or_default();
        let stretch = tracks::Stretch {
            from: asked.from,
            to: asked.to,
            pixels: asked.pixels.unwrap_or(1000),
            before: asked.before,
        };
        app.series(&id, &choice, stretch)
    });
    Ok(Json(series.await?))
}

async fn jobs(State(app): Shared) -> impl IntoResponse {
    Json(app.queue.snapshot())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    data: String,
    /// Of the choice that the user has before them; none where nothing of it is shown.
    revision: Option<String>,
    /// Of the fit; one is found where there is none.
    name: Option<String>,
    #[serde(default)]
    settings: Map<String, Value>,
    budget: Option<f64>,
}

#[derive(Serialize)]
struct Ordered {
    id: u64,
    name: String,
}

async fn order(State(app): Shared, Read(wish): Read<Wish>) -> ApiResult<impl IntoResponse> {
    let ordered = app.work(move |app| {
        let choice = app.stored_choice(&wish.data);
        check_seen(wish.revision.as_deref(), choice.as_ref())?;
        let order = queue::Order {
            choice: choice.unwrap_or_default(),
            data: wish.data,
            settings: wish.settings,
            budget: wish.budget,
        };
        job::check(app, &order)?;
        let name = match wish.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
            Some(name) => {
                app.workspace.new_place(name)?;
                if app.queue.has_open(name) {
                    return Err(ApiError::conflict(format!("a fit named '{name}' waits in the queue")));
                }
                name.to_owned()
            }
            None => {
                let kind = order.settings.get("model").and_then(Value::as_str).unwrap_or("auto");
                let stem = order
                    .data
                    .rsplit_once('.')
                    .map_or(order.data.as_str(), |(stem, _)| stem);
                let tame: String = stem
                    .chars()
                    .map(|c| if c.is_alphanumeric() { c } else { '-' })
                    .collect();
                let wish = format!("{}-{kind}", tame.trim_matches('-').chars().take(60).collect::<String>());
                app.workspace
                    .free_name(wish.trim_start_matches('-'), |name| app.queue.has_open(name))?
            }
        };
        app.forget_remark(&name)?;
        let id = app.queue.push(&app.store, name.clone(), order)?;
        Ok(Ordered { id, name })
    });
    Ok((StatusCode::CREATED, Json(ordered.await?)))
}

async fn cancel(State(app): Shared, Path(id): Path<u64>) -> ApiResult<impl IntoResponse> {
    app.work(move |app| app.queue.cancel(&app.store, id)).await?;
    Ok(Json(json!({})))
}

/// Fits once more what did not come to its end; a network goes on from its checkpoint.
async fn again(State(app): Shared, Path(id): Path<u64>) -> ApiResult<impl IntoResponse> {
    let ordered = app.work(move |app| {
        let job = app.queue.job(id)?;
        if app.workspace.fit(&job.name).is_ok() || app.queue.has_open(&job.name) {
            return Err(ApiError::conflict(format!("there is a fit named '{}' now", job.name)));
        }
        job::check(app, &job.order)?;
        let new = app.queue.push(&app.store, job.name.clone(), job.order)?;
        app.queue.forget(&app.store, id)?;
        Ok(Ordered {
            id: new,
            name: job.name,
        })
    });
    Ok((StatusCode::CREATED, Json(ordered.await?)))
}

async fn forget(State(app): Shared, Path(id): Path<u64>) -> ApiResult<impl IntoResponse> {
    app.work(move |app| app.queue.forget(&app.store, id)).await?;
    Ok(Json(json!({})))
}

/// The queue whenever it changes, as server-sent events.
async fn events(State(app): Shared) -> Response {
    let (changed, stopping) = (app.queue.subscribe(), app.stopping.clone());
    let events = stream::unfold(
        (app, changed, stopping, true),
        |(app, mut changed, mut stopping, first)| async move {
            let mut line = Bytes::from_static(b": still here\n\n");
            let mut tell = first;
            if !first {
                tokio::time::sleep(BETWEEN_EVENTS).await;
                tell = tokio::select! {
                    told = changed.changed() => told.is_ok(),
                    _ = stopping.changed() => return None,
                    () = tokio::time::sleep(QUIET) => false,
                };
            }
            if *stopping.borrow() {
                return None;
            }
            if tell {
                changed.mark_unchanged();
                let text = serde_json::to_string(&app.queue.snapshot()).unwrap_or_default();
                line = Bytes::from(format!("data: {text}\n\n"));
            }
            Some((Ok::<_, Infallible>(line), (app, changed, stopping, false)))
        },
    );
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

async fn fits(State(app): Shared) -> ApiResult<impl IntoResponse> {
    let (rows, bin) = app.work(|app| Ok((app.fits()?, app.bin()))).await?;
    Ok(Json(json!({ "fits": rows, "bin": bin })))
}

async fn interface(State(app): Shared, Path(name): Path<String>) -> ApiResult<impl IntoResponse> {
    Ok(Json(app.work(move |app| app.interface(&name)).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewName {
    to: String,
}

async fn rename(
    State(app): Shared,
    Path(name): Path<String>,
    Read(new): Read<NewName>,
) -> ApiResult<impl IntoResponse> {
    app.work(move |app| app.rename(&name, new.to.trim())).await?;
    Ok(Json(json!({})))
}

async fn discard(State(app): Shared, Path(name): Path<String>) -> ApiResult<impl IntoResponse> {
    let binned = app.work(move |app| app.discard(&name)).await?;
    Ok(Json(json!({ "bin": binned })))
}

async fn restore(State(app): Shared, Path(name): Path<String>) -> ApiResult<impl IntoResponse> {
    app.work(move |app| app.restore(&name)).await?;
    Ok(Json(json!({})))
}

async fn erase(State(app): Shared, Path(name): Path<String>) -> ApiResult<impl IntoResponse> {
    app.work(move |app| app.erase(&name)).await?;
    Ok(Json(json!({})))
}

async fn remark(
    State(app): Shared,
    Path(name): Path<String>,
    Read(remark): Read<Remark>,
) -> ApiResult<impl IntoResponse> {
    app.work(move |app| app.remark(&name, remark)).await?;
    Ok(Json(json!({})))
}

async fn analyse(State(app): Shared, Read(asked): Read<analysis::Asked>) -> ApiResult<impl IntoResponse> {
    Ok(Json(app.work(move |app| app.analyse(&asked)).await?))
}

async fn show(State(app): Shared, Read(asked): Read<overlay::Asked>) -> ApiResult<impl IntoResponse> {
    Ok(Json(app.work(move |app| app.overlay(&asked)).await?))
}

async fn what_if(
    State(app): Shared,
    Path(name): Path<String>,
    Read(asked): Read<whatif::Asked>,
) -> ApiResult<impl IntoResponse> {
    Ok(Json(app.work(move |app| app.what_if(&name, &asked)).await?))
}

#[derive(Deserialize)]
struct From {
    data: String,
    #[serde(default)]
    from: usize,
    samples: usize,
}

async fn inputs(
    State(app): Shared,
    Path(name): Path<String>,
    Query(asked): Query<From>,
) -> ApiResult<impl IntoResponse> {
    let loaded = app.work(move |app| app.inputs_of(&name, &asked.data, asked.from, asked.samples));
    Ok(Json(loaded.await?))
}

async fn words(State(app): Shared, Path(name): Path<String>) -> ApiResult<impl IntoResponse> {
    Ok(Json(app.work(move |app| app.words(&name)).await?))
}

/// The report of a fit, in the browser.
async fn report(State(app): Shared, Path(name): Path<String>) -> ApiResult<Response> {
    let file = app.work(move |app| app.download(&name, REPORT)).await?;
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(file.kind)),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static(REPORT_POLICY)),
    ];
    Ok((headers, file.bytes).into_response())
}

async fn download(State(app): Shared, Path((name, what)): Path<(String, String)>) -> ApiResult<Response> {
    let file = app.work(move |app| app.download(&name, &what)).await?;
    // Old browsers read bytes beyond ASCII in many ways.
    let plain: String = file
        .name
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
        .collect();
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{plain}\""))
        .map_err(|_| ApiError::internal("the file has no name"))?;
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(file.kind)),
        (CONTENT_DISPOSITION, disposition),
    ];
    Ok((headers, file.bytes).into_response())
}
