//! Who may ask, and what every answer carries.
//!
//! | check | against |
//! |---|---|
//! | `Host` is an address of this server | names that were bent to this machine (DNS rebinding) |
//! | `Origin` is this server's; there must be one where something is changed | other pages in the same browser (CSRF) |
//! | the cookie, which the link of the terminal gives once | everybody else on the machine or the network |
//! | a content security policy without inline code | names and cells that hold code |

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, LOCATION, ORIGIN, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::api_error::ApiError;
use crate::app::App;
use crate::error::Result;
use crate::secret;

/// Nothing but the page's own files may run, style, be shown or be asked.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What to do without a cookie.
const OPEN_THE_LINK: &str = "Open the link that `intervalid studio` has printed in its terminal: it lets one browser in, and prints the next link then.";

/// Told of every new link.
pub(crate) type Announce = Box<dyn Fn(&str) + Send + Sync>;

/// Who may ask.
pub(crate) struct Access {
    address: SocketAddr,
    /// The token of the next link.
    token: Mutex<String>,
    session: String,
    announce: Announce,
}

impl Access {
    pub(crate) fn new(address: SocketAddr, announce: Announce) -> Result<Self> {
        Ok(Self {
            address,
            token: Mutex::new(secret::random()?),
            session: secret::random()?,
            announce,
        })
    }

    /// The link that lets one browser in.
    pub(crate) fn link(&self) -> String {
        let token = self.token.lock().unwrap_or_else(PoisonError::into_inner);
        // Where all addresses are listened at, the one of this machine serves its own user.
        let host = match self.address.ip() {
            ip if ip.is_unspecified() => SocketAddr::new(loopback(ip), self.address.port()),
            _ => self.address,
        };
        format!("http://{host}/?token={token}")
    }

    /// Cookies are shared by all ports of a host, so that each studio has its own name.
    fn cookie_name(&self) -> String {
        format!("intervalid-studio-{}", self.address.port())
    }

    /// Whether this is an address of the server. Numbers cannot be bent to another machine, so any that reach it are its own where it
    /// listens at all of them.
    fn is_own_host(&self, host: &str) -> bool {
        let port = self.address.port();
        match host.parse::<SocketAddr>() {
            Ok(address) => {
                let ip = self.address.ip();
                address.port() == port && (address.ip() == ip || ip.is_unspecified())
            }
            Err(_) => host == format!("localhost:{port}") && (self.is_local() || self.address.ip().is_unspecified()),
        }
    }

    fn is_local(&self) -> bool {
        self.address.ip().is_loopback()
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = cookies
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.split_once('='));
        pairs
            .filter(|(key, _)| key.trim() == name)
            .any(|(_, value)| secret::same(value.trim(), &self.session))
    }

    /// Lets a browser in whose token is that of the link; the link is used up then, and the next one is announced.
    fn admit(&self, token: &str) -> Option<Response> {
        {
            let mut expected = self.token.lock().unwrap_or_else(PoisonError::into_inner);
            if !secret::same(token, &expected) {
                return None;
            }
            *expected = secret::random().ok()?;
        }
        (self.announce)(&self.link());
        let cookie = format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict",
            self.cookie_name(),
            self.session
        );
        let mut response = StatusCode::SEE_OTHER.into_response();
        let headers = response.headers_mut();
        headers.insert(SET_COOKIE, HeaderValue::from_str(&cookie).ok()?);
        headers.insert(LOCATION, HeaderValue::from_static("/"));
        Some(response)
    }

    /// Why a request is refused whoever sends it.
    fn refusal(&self, method: &Method, headers: &HeaderMap) -> Option<ApiError> {
        let refused = |message: &str| Some(ApiError::new(StatusCode::FORBIDDEN, message));
        let mut hosts = headers.get_all(HOST).iter();
        let host = match (hosts.next().and_then(|host| host.to_str().ok()), hosts.next()) {
            (Some(host), None) if self.is_own_host(host) => host,
            _ => return refused("this is not an address of this server"),
        };
        let changes = !matches!(*method, Method::GET | Method::HEAD);
        match headers.get(ORIGIN) {
            Some(origin) if origin.as_bytes() == format!("http://{host}").as_bytes() => None,
            None if !changes => None,
            _ => refused("pages of other servers may not ask here"),
        }
    }
}

fn loopback(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V6(_) => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
    }
}

/// The token of a link, if the address is one.
fn token_of(uri: &Uri) -> Option<&str> {
    let query = uri.query().filter(|_| uri.path() == "/")?;
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Every request passes here.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request<Body>, next: Next) -> Response {
    let access = &app.access;
    let (method, headers) = (request.method(), request.headers());
    let mut response = if let Some(refusal) = access.refusal(method, headers) {
        refusal.into_response()
    } else if let Some(admitted) = token_of(request.uri()).and_then(|token| access.admit(token)) {
        admitted
    } else if !access.has_cookie(headers) {
        (StatusCode::UNAUTHORIZED, OPEN_THE_LINK).into_response()
    } else {
        let patience = match method == Method::PUT {
            true => app.limits.upload_seconds,
            false => app.limits.request_seconds,
        };
        match tokio::time::timeout(Duration::from_secs_f64(patience), next.run(request)).await {
            Ok(response) => response,
            Err(_) => ApiError::new(
                StatusCode::REQUEST_TIMEOUT,
                format!("this took longer than {patience} s and was given up"),
            )
            .into_response(),
        }
    };
    add_headers(response.headers_mut());
    response
}

/// What every answer carries. A page that needs another policy brings its own.
fn add_headers(headers: &mut HeaderMap) {
    let own: [(HeaderName, &'static str); 7] = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in own {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(address: &str) -> Access {
        Access::new(address.parse().expect("an address"), Box::new(|_| {})).expect("random")
    }

    #[test]
    fn hosts_are_numbers_or_localhost_with_the_port() {
        let local = access("127.0.0.1:8000");
        for host in ["127.0.0.1:8000", "localhost:8000"] {
            assert!(local.is_own_host(host), "{host}");
        }
        for host in [
            "127.0.0.1",
            "127.0.0.1:8001",
            "evil.example:8000",
            "localhost.evil.example:8000",
            "192.168.0.2:8000",
            "",
        ] {
            assert!(!local.is_own_host(host), "{host}");
        }
        let open = access("0.0.0.0:8000");
        assert!(open.is_own_host("192.168.0.2:8000") && open.is_own_host("localhost:8000"));
        assert!(!open.is_own_host("evil.example:8000"));
        let one = access("192.168.0.2:8000");
        assert!(one.is_own_host("192.168.0.2:8000") && !one.is_own_host("localhost:8000"));
    }

    #[test]
    fn a_link_lets_one_browser_in() {
        let access = access("127.0.0.1:8000");
        let link = access.link();
        let token = link.rsplit_once('=').expect("a token").1;
        let cookie = access.admit(token).expect("admitted").headers()[SET_COOKIE].clone();
        let text = cookie.to_str().expect("text");
        assert!(text.contains("; HttpOnly; SameSite=Strict"), "{text}");
        let mut headers = HeaderMap::new();
        headers.insert(
            COOKIE,
            HeaderValue::from_str(&format!("a=b; {text}")).expect("a header"),
        );
        assert!(access.has_cookie(&headers));
        assert!(access.admit(token).is_none(), "used up");
        assert!(access.link() != link, "another link for another browser");
        headers.insert(COOKIE, HeaderValue::from_static("intervalid-studio-8000=0"));
        assert!(!access.has_cookie(&headers));
    }
}
