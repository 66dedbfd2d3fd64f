package import Events
internal import Projections

/// What Apple pushes: one POST body per notification.
extension SubscriptionLife {
    /// The notifications about the life, by signing date; on their own they tell the whole truth.
    package func notifications() -> [Delivery] {
        notifications(about: chapters.indices)
    }

    /// The notifications about some of its events, by their numbers from 0.
    package func notifications(about events: Range<Int>) -> [Delivery] {
        events.flatMap { notifications(about: chapters[$0], number: $0) }
    }

    /// When each of the notifications is signed, without signing any.
    package var notificationInstants: [Instant] {
        chapters.flatMap { chapter in
            chapter.notices.indices.map { Self.signedAt(chapter, notice: $0) }
        }
    }

    /// The notification with that number, from 0, in the order of `notificationInstants`.
    package func notification(_ number: Int) -> Delivery {
        var first = 0
        for (index, chapter) in chapters.enumerated() {
            if number < first + chapter.notices.count {
                return notifications(about: chapter, number: index)[number - first]
            }
            first += chapter.notices.count
        }
        preconditionFailure("life \(identity.index) has no notification \(number)")
    }

    private func notifications(about chapter: Chapter, number: Int) -> [Delivery] {
        var generator = identity.generator(step: number)
        _ = generator.next()
        return chapter.notices.enumerated().map { noticeNumber, notice in
            let signedAt = Self.signedAt(chapter, notice: noticeNumber)
            let body = store.notification(
                notice.type,
                notice.subtype,
                uuid: generator.uuid(),
                signedAt: signedAt
            ) { json in
                if case .seatClaims(let claims) = notice.subject {
                    json.add("unclaimInfo", object: unclaimInfo(of: claims))
                } else {
                    let data = data(of: notice, state: chapter.state, signedAt: signedAt)
                    json.add("data", object: data)
                }
            }
            return Delivery(channel: .notification, payload: body, signedAt: signedAt)
        }
    }

    private func unclaimInfo(of claims: [String]) -> [UInt8] {
        var json = store.app()
        json.add(UnconfirmedWords.unclaimedSubscription, identity.originalTransactionId)
        json.add("unclaimSeatIds", plainTexts: claims.map { Array($0.utf8) })
        return json.object
    }

    private func data(
        of notice: LifeMachine.Notice,
        state: LifeState,
        signedAt: Instant
    ) -> [UInt8] {
        let content = content(signedAt: signedAt)
        var json = store.app(version: "42")

        switch notice.subject {
        case .purchase, .addition:
            let transaction = content.transaction(state.transaction(of: notice), of: state)
            json.add("signedTransactionInfo", plain: store.pki.sign(payloadJSON: transaction))
            if let renewal = content.renewalInfo(of: state) {
                json.add("signedRenewalInfo", plain: store.pki.sign(payloadJSON: renewal))
            }
            json.add("status", state.status(at: signedAt)?.appleNumber)
        case .oneTimePurchase(let number):
            let transaction = content.transaction(state.oneTimePurchases[number])
            json.add("signedTransactionInfo", plain: store.pki.sign(payloadJSON: transaction))
        case .seatClaims: break
        }

        if notice.type == "CONSUMPTION_REQUEST" {
            json.add("consumptionRequestReason", "UNINTENDED_PURCHASE")
        }
        return json.object
    }
}

extension LifeState {
    // The transaction that a notification about the subscription carries.
    fileprivate func transaction(of notice: LifeMachine.Notice) -> Purchase {
        switch notice.subject {
        case .purchase(let number): return purchases[number]
        case .addition(let number): return purchase(of: additions[number])
        case .oneTimePurchase, .seatClaims:
            preconditionFailure("\(notice.type) is not about the subscription")
        }
    }
}
