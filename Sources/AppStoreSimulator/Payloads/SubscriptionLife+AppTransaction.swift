package import Events

/// What Apple signs about the customer's copy of the app, without any purchase.
extension SubscriptionLife {
    /// The JWS of the app transaction at an instant.
    package func signedAppTransaction(asOf instant: Instant) -> [UInt8] {
        let facts = ReceiptFacts(self)
        var json = JSONWriter(store.pace)
        json.add("receiptType", store.environment.word)
        json.add("appAppleId", store.appAppleId)
        json.add("bundleId", store.bundleId)
        json.add("applicationVersion", facts.version)
        json.add("versionExternalIdentifier", facts.versionExternalId)
        json.add("receiptCreationDate", signedAt: instant)
        json.add("originalPurchaseDate", facts.downloadDate)
        json.add("originalApplicationVersion", facts.originalVersion)
        json.add("appTransactionId", identity.appTransactionId)
        json.add("originalPlatform", "iOS")
        return store.pki.sign(payloadJSON: json.object)
    }
}

extension SimulatedStore {
    /// The body of a test notification, as it is posted.
    ///
    /// - Parameters:
    ///   - uuid: Its `notificationUUID`.
    ///   - signedAt: When it is signed, in real time.
    /// - Returns: The body.
    package func testNotification(uuid: String, signedAt: Instant) -> [UInt8] {
        at(.calendar).notification("TEST", nil, uuid: uuid, signedAt: signedAt) { json in
            json.add("data", object: app().object)
        }
    }

    /// The body of a notification, whose content is added to it.
    func notification(
        _ type: String,
        _ subtype: String?,
        uuid: String,
        signedAt: Instant,
        _ addContent: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var json = JSONWriter(pace)
        json.add("notificationType", type)
        json.add("subtype", subtype)
        json.add("notificationUUID", uuid)
        addContent(&json)
        json.add("version", "2.0")
        json.add("signedDate", signedAt: signedAt)
        var body = JSONWriter()
        body.add("signedPayload", plain: pki.sign(payloadJSON: json.object))
        return body.object
    }

    /// An object about the app, to which members may be added.
    func app(version: String? = nil) -> JSONWriter {
        var json = JSONWriter()
        json.add("appAppleId", appAppleId)
        json.add("bundleId", bundleId)
        json.add("bundleVersion", version)
        json.add("environment", environment.word)
        return json
    }
}
