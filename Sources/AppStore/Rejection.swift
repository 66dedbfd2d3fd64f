/// Why a payload was refused: no fact of it is appended to the log.
///
/// Two rejections are equal when their codes are. The message names what was found, what was
/// expected and what to do; it carries ids and machine words, never payload bytes, and is safe to
/// log.
public struct Rejection: Error, Sendable {
    /// What callers switch on; its raw value is the machine word that `ingest --json` prints.
    public let code: Code
    /// One or two sentences for people.
    public let message: String

    /// A rejection with that reason.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The reasons, one for each way to fail.
    ///
    /// Raw values are a contract: add cases, never rename them.
    public enum Code: String, CaseIterable, Sendable {
        /// A file or folder that could not be read.
        case unreadable = "unreadable"
        /// A payload that was refused before and of which not all bytes were kept.
        case bodyNotKept = "body-not-kept"
        /// No bytes except white space.
        case payloadEmpty = "payload-empty"
        /// More bytes than a named limit allows.
        case payloadTooLarge = "payload-too-large"
        /// A known form that cannot be decoded here, or an unknown one; the message names it.
        case unsupportedFormat = "unsupported-format"
        /// An app transaction: genuine, but it carries no subscription data.
        case appTransaction = "app-transaction"
        /// A server response that holds no signed statement, so there is nothing to verify.
        case nothingSigned = "nothing-signed"

        /// Nothing in the payload is signed or otherwise proven, and nothing vouches for it.
        case unproven = "unproven"
        /// A version 1 notification whose `password` is none of the shared secrets, and whose
        /// receipt proves nothing.
        case sharedSecretMismatch = "shared-secret-mismatch"
        /// Apple answered verifyReceipt that the request was wrong.
        case receiptStatusRequest = "receipt-status-request"
        /// Apple answered that the receipt is not genuine.
        case receiptStatusForged = "receipt-status-forged"
        /// Apple answered that the receipt belongs to the other environment.
        case receiptStatusEnvironment = "receipt-status-environment"
        /// Apple answered that it could not decide now; a retry may help.
        case receiptStatusRetry = "receipt-status-retry"
        /// Apple answered that it does not know the account.
        case receiptStatusAccount = "receipt-status-account"
        /// Apple answered that it cannot decide, now or later.
        case receiptStatusGaveUp = "receipt-status-gave-up"

        /// Not JSON as RFC 8259 defines it.
        case jsonMalformed = "json-malformed"
        /// JSON nested deeper than `JSON.depthMax`.
        case jsonTooDeep = "json-too-deep"
        /// A JSON object with a name that occurs twice: the intended value cannot be known.
        case jsonDuplicateName = "json-duplicate-name"

        /// Not three base64url segments with a JSON object in the first two.
        case jwsMalformed = "jws-malformed"
        /// `alg` is anything but ES256.
        case algorithmNotES256 = "algorithm-not-es256"
        /// The header has critical extensions, which are not supported (RFC 7515 §4.1.11).
        case jwsCriticalHeader = "jws-critical-header"
        /// No `x5c`, or an empty one.
        case x5cMissing = "x5c-missing"
        /// `x5c` has neither three certificates nor Xcode's one.
        case chainLength = "chain-length"
        /// A certificate that is not X.509 DER.
        case certificateMalformed = "certificate-malformed"
        /// A certificate that must not be used as it is: weak signature, unknown critical
        /// extension, wrong key usage.
        case certificateUnacceptable = "certificate-unacceptable"
        /// A certificate was not valid at the payload's date: expired, or not yet valid.
        case certificateExpired = "certificate-expired"
        /// A certificate was not issued by the next one.
        case chainBroken = "chain-broken"
        /// The chain does not end at a pinned root.
        case chainUntrusted = "chain-untrusted"
        /// The issuer is not a certification authority, or its path length forbids the chain.
        case issuerNotCA = "issuer-not-ca"
        /// The leaf lacks Apple's marker 1.2.840.113635.100.6.11.1.
        case leafOIDMissing = "leaf-oid-missing"
        /// The intermediate lacks Apple's marker 1.2.840.113635.100.6.2.1.
        case intermediateOIDMissing = "intermediate-oid-missing"
        /// The leaf's key is not on P-256.
        case leafKeyUnsupported = "leaf-key-unsupported"
        /// The signature is not 64 raw bytes.
        case signatureMalformed = "signature-malformed"
        /// The signature does not match the signed bytes: the payload was changed.
        case signatureInvalid = "signature-invalid"
        /// Signed by Xcode on a developer's machine, which this verifier does not trust.
        case xcodeSigned = "xcode-signed"
        /// The certificate that issued a receipt's signer is not in the receipt.
        case receiptIssuerMissing = "receipt-issuer-missing"
        /// A root certificate given by the operator cannot be read.
        case rootCertificateMalformed = "root-certificate-malformed"

        /// An iOS 6 transaction receipt: a property list, which only Apple can check.
        case ios6Receipt = "ios6-receipt"
        /// An app receipt that is not PKCS #7 around a set of attributes.
        case receiptMalformed = "receipt-malformed"
        /// An app receipt nested deeper than `BERReader.depthMax`.
        case receiptTooDeep = "receipt-too-deep"
        /// An app receipt with more elements, certificates or purchases than a named limit allows.
        case receiptTooLarge = "receipt-too-large"
        /// A signature without what it signs.
        case receiptContentMissing = "receipt-content-missing"
        /// An app receipt with no signer, or with several.
        case receiptSignerCount = "receipt-signer-count"
        /// None of a receipt's certificates belongs to its signer.
        case receiptSignerMissing = "receipt-signer-missing"
        /// A digest or signature algorithm that is not supported.
        case receiptAlgorithmUnsupported = "receipt-algorithm-unsupported"
        /// A receipt's digest, its signature and its signer's key do not match.
        case receiptAlgorithmMismatch = "receipt-algorithm-mismatch"
        /// Signed attributes that lack the content's type or digest, or repeat one.
        case receiptSignedAttributes = "receipt-signed-attributes"
        /// The content does not have the digest that was signed: it was changed.
        case receiptDigestMismatch = "receipt-digest-mismatch"
        /// A receipt has an attribute twice: the intended one cannot be known.
        case receiptAttributeDuplicate = "receipt-attribute-duplicate"
        /// The value of a receipt's attribute is not of its type.
        case receiptAttributeMalformed = "receipt-attribute-malformed"
        /// A receipt that names no app.
        case receiptBundleMissing = "receipt-bundle-missing"

        /// The payload belongs to another app.
        case bundleIdMismatch = "bundle-id-mismatch"
        /// A production notification of another App Store app id.
        case appAppleIdMismatch = "app-apple-id-mismatch"
        /// The environment is not among those accepted.
        case environmentNotAccepted = "environment-not-accepted"
        /// Nothing states the environment in which the payload was made.
        case environmentUnknown = "environment-unknown"
        /// A nested statement contradicts what surrounds it.
        case nestedMismatch = "nested-mismatch"
        /// A claim that identifies the statement has the wrong JSON type.
        case claimMalformed = "claim-malformed"
        /// A date that the App Store cannot have issued.
        case dateImplausible = "date-implausible"
        /// No date from Apple at all: the statement has no place on Apple's clock.
        case dateMissing = "date-missing"
        /// An id that is too long, contains control characters or is not text.
        case idMalformed = "id-malformed"
        /// A required id is missing: the statement belongs to no subscription.
        case idMissing = "id-missing"
        /// A secret occurs where none belongs, so the payload cannot be stored without it.
        case secretMisplaced = "secret-misplaced"
        /// More than `Content.byteCountMax` bytes of content.
        case contentTooLarge = "content-too-large"
    }
}

extension Rejection: Equatable {
    /// Equal when the codes are; the message is for people.
    public static func == (left: Rejection, right: Rejection) -> Bool {
        left.code == right.code
    }
}

extension Rejection: CustomStringConvertible {
    /// The machine word, then the message.
    public var description: String { "\(code.rawValue): \(message)" }
}
