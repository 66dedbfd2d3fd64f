import EventLog
import Events
import Foundation
import Testing

@testable import Deliveries

/// How messages are signed, where they may go, and when they are sent again.
struct MessageTests {
    /// The example of the specification, whose signature the reference library computes too.
    @Test func `a symmetric signature is that of the reference library`() throws {
        let secret = try WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        let signature = try secret.signature(
            of: Array(#"{"test": 2432232314}"#.utf8),
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            at: 1_614_265_330
        )
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func `secrets are read as they are written, and others are refused`() throws {
        for scheme in WebhookSecret.Scheme.allCases {
            let secret = WebhookSecret.random(scheme)
            #expect(try WebhookSecret(secret.text).receiverKey == secret.receiverKey)
            #expect(secret.scheme == scheme)
        }
        #expect(WebhookSecret.random(.ed25519).receiverKey.hasPrefix("whpk_"))
        for text in ["", "whsec_", "whsec_AAAA", "secret", "whsk_AAAA", "whsec_%%%"] {
            #expect(throws: WebhookFault.self) { try WebhookSecret(text) }
        }
    }

    @Test func `after a rotation both secrets sign until the time of the older one is over`() throws
    {
        let (older, newer) = (WebhookSecret.random(.hmac), WebhookSecret.random(.ed25519))
        let webhook = Webhook(name: "a", url: "https://example.com", secrets: [older.text])
        let now = Instant(milliseconds: 1_800_000_000_000)
        let one = try MessageSigner(webhook) { now }.headers(of: [1], id: "m")
        let expected = try older.signature(of: [1], id: "m", at: 1_800_000_000)
        #expect(one.first { $0.0 == "webhook-signature" }?.1 == expected)
        for (until, count) in [(now.milliseconds + 1, 2), (now.milliseconds, 1)] {
            let rotated = webhook.rotated(to: newer.text, until: Instant(milliseconds: until))
            let headers = try MessageSigner(rotated) { now }.headers(of: [1], id: "m")
            let signatures = headers.first { $0.0 == "webhook-signature" }?.1.split(separator: " ")
            #expect(signatures?.count == count)
            #expect(signatures?.first?.hasPrefix("v1a,") == true)
            #expect((signatures?.last).map(String.init) == expected || count == 1)
        }
    }

    @Test(arguments: [
        "127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.1", "172.31.255.255", "169.254.169.254",
        "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1", "[::1]", "[::]",
        "[fe80::1]", "[fc00::1]", "[fd12::1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]",
        "[64:ff9b::a00:1]", "[2002:7f00:1::]", "[2001:db8::1]", "[ff02::1]", "2130706433", "0x7f.1",
        "127.1", "017700000001", "localhost",
    ])
    func `a private address is refused unless it is allowed`(host: String) throws {
        let address = try ReceiverAddress("https://\(host)/hook", allowsPrivate: false)
        let error = #expect(throws: WebhookFault.self) { try address.resolved() }
        #expect("\(try #require(error))".contains("public address"), "\(host)")
        #expect(try !ReceiverAddress("http://\(host)/", allowsPrivate: true).resolved().isEmpty)
    }

    @Test(arguments: ["1.1.1.1", "8.8.8.8", "172.32.0.1", "[2606:4700::1111]", "[::ffff:8.8.8.8]"])
    func `a public address is taken`(host: String) throws {
        #expect(try !ReceiverAddress("https://\(host)/", allowsPrivate: false).resolved().isEmpty)
    }

    @Test(arguments: [
        "", "example.com", "ftp://example.com", "http://example.com", "https://user:pw@example.com",
        "https://example.com/#part", "https://", "file:///etc/passwd", "https:///path",
    ])
    func `what is no address of a receiver is refused`(text: String) {
        #expect(throws: WebhookFault.self) { try ReceiverAddress(text, allowsPrivate: false) }
    }

    @Test
    func `attempts are spread over three days, and Retry-After delays one by an hour at most`() {
        let now = Instant(milliseconds: 1_800_000_000_000)
        let sum = RetrySchedule.seconds.reduce(0, +)
        #expect((70 * 3600...74 * 3600).contains(sum))
        #expect(RetrySchedule.next(after: RetrySchedule.seconds.count + 1, at: now) == nil)
        for attempts in 1...RetrySchedule.seconds.count {
            let wait = RetrySchedule.seconds[attempts - 1] * 1000
            let due = RetrySchedule.next(after: attempts, at: now)?.milliseconds ?? 0
            #expect((wait...wait + wait / 10).contains(due - now.milliseconds))
        }
        let asked = Instant(milliseconds: now.milliseconds + 86_400_000)
        let due = RetrySchedule.next(after: 1, at: now, asked: asked)
        #expect(due?.milliseconds == now.milliseconds + 3_600_000)
    }

    @Test func `what a forwarded notification is chosen by is read, and anything else is refused`()
        throws
    {
        let both = try Forwarding.Target("com.example.app,Sandbox=https://example.com/a?b=c")
        #expect(both.bundleId == "com.example.app" && both.environment == .sandbox)
        #expect(both.address.url == "https://example.com/a?b=c")
        #expect(try Forwarding.Target("sandbox=https://example.com").environment == .sandbox)
        let plain = try Forwarding.Target("http://127.0.0.1:9/x")
        #expect(plain.bundleId == nil && plain.environment == nil)
        for text in ["", "Sandbox=", "Sandboxhttps://a", "a,b=https://a", ",=https://a", "ftp://a"]
        {
            #expect(throws: WebhookFault.self) { try Forwarding.Target(text) }
        }
    }
}

extension Webhook {
    fileprivate func rotated(to secret: String, until: Instant) -> Webhook {
        Webhook(
            name: name,
            url: url,
            secrets: [secret] + secrets,
            olderSignUntil: until
        )
    }
}
