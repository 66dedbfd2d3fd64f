package import AppStore
internal import EventLog
internal import Events

/// A payload with the place it was found at, or why that place does not contain one.
package struct LocatedPayload: Sendable {
    /// A file's path, followed by the number of the payload if the file contains several.
    package let path: String
    /// Its bytes, or why they cannot be a payload.
    package let payload: Result<[UInt8], Rejection>
    /// How it was refused before; nil for a payload that arrives.
    let refused: OpenRejection?

    /// A payload found there.
    package init(path: String, payload: Result<[UInt8], Rejection>) {
        self.path = path
        self.payload = payload
        refused = nil
    }

    /// A payload that was refused before.
    init(_ rejection: OpenRejection) {
        path = rejection.location.isEmpty ? rejection.original.digest.hex : rejection.location
        refused = rejection
        if let body = rejection.wholeBody {
            payload = .success(body)
        } else {
            let kept = rejection.body.map { "only its first \($0.count)" } ?? "none"
            payload = .failure(
                Rejection(
                    .bodyNotKept,
                    "The payload \(rejection.original.digest) was refused earlier, and of its"
                        + " \(rejection.original.byteCount) bytes \(kept) were kept: ingest the"
                        + " original again."
                )
            )
        }
    }

    /// Its size in bytes.
    package var byteCount: Int {
        switch payload {
        case .success(let bytes): bytes.count
        case .failure: 0
        }
    }

    /// SHA-256 of the bytes that arrived; nil if there are none.
    var digest: Digest? {
        if let refused { return refused.original.digest }
        return if case .success(let bytes) = payload { Digest.of(bytes) } else { nil }
    }

    /// Its format, or why it has none.
    var recognised: Result<RecognisedPayload, Rejection> {
        payload.flatMap { bytes in
            do throws(Rejection) {
                return .success(try RecognisedPayload(bytes))
            } catch {
                return .failure(error)
            }
        }
    }
}

extension Result<RecognisedPayload, Rejection> {
    /// How many statements the payload makes, as far as they can be counted before it is verified.
    var statementCount: Int {
        if case .success(let payload) = self { payload.statementCount ?? 0 } else { 0 }
    }
}
