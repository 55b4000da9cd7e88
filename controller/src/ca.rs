//! The controller's own certificate authority: agents and clients are whom it says they are.

use camino::{Utf8Path, Utf8PathBuf};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use tonic::Request;
use tonic::transport::{Certificate, Identity, ServerTlsConfig};

/// The name in the controller's certificate, whatever address it is reached by.
pub const CONTROLLER_NAME: &str = "schedrig-controller";

/// What keeps the authority from working.
#[derive(Debug, thiserror::Error)]
pub enum CaError {
    /// A file cannot be read or written.
    #[error("failed to use `{path}`")]
    File {
        /// The file.
        path: Utf8PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// There is no authority in this directory.
    #[error("`{0}` has no certificate authority: `schedrig serve --data {0}` makes one")]
    None(Utf8PathBuf),
    /// A certificate cannot be made or read.
    #[error("failed to make a certificate")]
    Certificate(#[from] rcgen::Error),
    /// A name that no certificate may carry.
    #[error("`{0}` is no name for a machine: letters, digits, `-`, `_` and `.`, at most 63")]
    Name(String),
}

/// An authority whose files lie in a directory: `ca.pem`, `ca-key.pem`.
pub struct Authority {
    dir: Utf8PathBuf,
    ca_pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate, its key, and the authority that made it.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// PEM of the authority.
    pub ca: String,
    /// PEM of the certificate.
    pub certificate: String,
    /// PEM of the private key.
    pub key: String,
}

impl Authority {
    /// The authority of a directory; made where there is none.
    ///
    /// # Errors
    /// Its files cannot be read or written.
    pub fn open_or_make(dir: &Utf8Path) -> Result<Self, CaError> {
        if !dir.join("ca.pem").exists() {
            make_authority(dir)?;
        }
        Self::open(dir)
    }

    /// The authority of a directory.
    ///
    /// # Errors
    /// There is none, or its files cannot be read.
    pub fn open(dir: &Utf8Path) -> Result<Self, CaError> {
        if !dir.join("ca.pem").exists() {
            return Err(CaError::None(dir.to_owned()));
        }
        let ca_pem = read(&dir.join("ca.pem"))?;
        let key = KeyPair::from_pem(&read(&dir.join("ca-key.pem"))?)?;
        let issuer = Issuer::from_ca_cert_pem(&ca_pem, key)?;
        Ok(Authority {
            dir: dir.to_owned(),
            ca_pem,
            issuer,
        })
    }

    /// A certificate for a machine or a client.
    ///
    /// # Errors
    /// The name is none that a certificate may carry.
    pub fn issue(&self, name: &str) -> Result<Bundle, CaError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.len() > 63 || !name.chars().all(allowed) {
            return Err(CaError::Name(name.to_owned()));
        }
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(vec![name.to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ClientAuth,
            ExtendedKeyUsagePurpose::ServerAuth,
        ];
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(Bundle {
            ca: self.ca_pem.clone(),
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }

    /// What the controller's listener uses: its own certificate, and only clients of this authority.
    ///
    /// # Errors
    /// The certificate cannot be made.
    pub fn server_config(&self) -> Result<ServerTlsConfig, CaError> {
        let own = self.issue(CONTROLLER_NAME)?;
        let identity = Identity::from_pem(own.certificate, own.key);
        Ok(ServerTlsConfig::new()
            .identity(identity)
            .client_ca_root(Certificate::from_pem(&self.ca_pem)))
    }

    /// The bundle of the operator's own command line: made once, kept in `client/`.
    ///
    /// # Errors
    /// Its files cannot be written.
    pub fn client_bundle(&self) -> Result<Utf8PathBuf, CaError> {
        let dir = self.dir.join("client");
        if !dir.join("cert.pem").exists() {
            self.issue(CLIENT_NAME)?.write(&dir)?;
        }
        Ok(dir)
    }
}

/// The name of the operator's own certificate.
pub const CLIENT_NAME: &str = "schedrig-client";

impl Bundle {
    /// Writes `ca.pem`, `cert.pem` and `key.pem`; the key is readable by its owner alone.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn write(&self, dir: &Utf8Path) -> Result<(), CaError> {
        make_dir(dir)?;
        write(&dir.join("ca.pem"), &self.ca, 0o644)?;
        write(&dir.join("cert.pem"), &self.certificate, 0o644)?;
        write(&dir.join("key.pem"), &self.key, 0o600)
    }
}

/// The common name in the certificate of whoever made a call.
pub fn peer_name<T>(request: &Request<T>) -> Option<String> {
    let certificates = request.peer_certs()?;
    let (_, certificate) =
        x509_parser::parse_x509_certificate(certificates.first()?.as_ref()).ok()?;
    let name = certificate
        .subject()
        .iter_common_name()
        .next()?
        .as_str()
        .ok()?;
    Some(name.to_owned())
}

fn make_authority(dir: &Utf8Path) -> Result<(), CaError> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(Vec::new())?;
    params
        .distinguished_name
        .push(DnType::CommonName, "schedrig authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::CrlSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    let certificate = params.self_signed(&key)?;
    make_dir(dir)?;
    write(&dir.join("ca-key.pem"), &key.serialize_pem(), 0o600)?;
    // Last: its presence says that the authority is whole.
    write(&dir.join("ca.pem"), &certificate.pem(), 0o644)
}

fn make_dir(dir: &Utf8Path) -> Result<(), CaError> {
    std::fs::create_dir_all(dir).map_err(|source| CaError::File {
        path: dir.to_owned(),
        source,
    })
}

fn read(path: &Utf8Path) -> Result<String, CaError> {
    std::fs::read_to_string(path).map_err(|source| CaError::File {
        path: path.to_owned(),
        source,
    })
}

fn write(path: &Utf8Path, text: &str, mode: u32) -> Result<(), CaError> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .open(path);
    let written = file.and_then(|mut f| f.write_all(text.as_bytes()).and_then(|()| f.sync_all()));
    written.map_err(|source| CaError::File {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authority_lasts_and_keys_are_private() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let first = Authority::open_or_make(dir).unwrap().ca_pem;
        assert_eq!(Authority::open_or_make(dir).unwrap().ca_pem, first);
        let mode = std::fs::metadata(dir.join("ca-key.pem"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0);
    }

    #[test]
    fn a_name_with_a_slash_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::open_or_make(Utf8Path::from_path(dir.path()).unwrap()).unwrap();
        assert!(matches!(authority.issue("../x"), Err(CaError::Name(_))));
        assert!(
            authority
                .issue("genoa-1.lab")
                .unwrap()
                .certificate
                .contains("BEGIN CERTIFICATE")
        );
    }
}
