/// A configuration of a reverse proxy in front of the service.
public enum ProxyExample: String, CaseIterable, Sendable {
    /// nginx, 1.18 or later.
    case nginx
    /// Caddy, 2.4 or later.
    case caddy

    /// A configuration to copy, with the limits of the service.
    ///
    /// - Parameters:
    ///   - port: The port of the service on this machine.
    ///   - limits: The limits of one request.
    /// - Returns: The text of the proxy's configuration file.
    public func text(port: Int, limits: ServiceLimits = ServiceLimits()) -> String {
        switch self {
        case .nginx: ProxyExample.nginx(port, limits)
        case .caddy: ProxyExample.caddy(port, limits)
        }
    }

    /// Seconds that the proxy waits for an answer: longer than an append may take by default.
    private static let answerSeconds = 30

    private static func nginx(_ port: Int, _ limits: ServiceLimits) -> String {
        """
        # /etc/nginx/conf.d/subledger.conf
        upstream subledger {
            server 127.0.0.1:\(port);
            keepalive 32;
        }

        server {
            listen 443 ssl;
            server_name subledger.example.com;
            ssl_certificate /etc/ssl/subledger.pem;
            ssl_certificate_key /etc/ssl/subledger.key;

            # The largest upload that the service accepts. Its limit for notifications is lower.
            client_max_body_size \(limits.uploadByteCountMax);
            # A notification must not be written to a file on its way.
            client_body_buffer_size \(limits.notificationByteCountMax);
            client_body_timeout \(Int(limits.bodySecondsMax))s;

            # proxy_pass without a path forwards the request path unchanged: a customer's id may
            # contain %2F.
            location / {
                proxy_pass http://subledger;
                proxy_http_version 1.1;
                proxy_set_header Connection "";
                proxy_set_header Host $host;
                # The service takes the client's address from it with --trusted-proxy 127.0.0.1.
                proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
                proxy_read_timeout \(answerSeconds)s;
            }

            # For your own network only.
            location ~ ^/+(metrics|livez|readyz)/*$ {
                allow 127.0.0.1;
                deny all;
                proxy_pass http://subledger;
                proxy_http_version 1.1;
                proxy_set_header Connection "";
            }
        }

        """
    }

    private static func caddy(_ port: Int, _ limits: ServiceLimits) -> String {
        """
        # Caddyfile; Caddy obtains the certificate itself.
        subledger.example.com {
            # The largest upload that the service accepts. Its limit for notifications is lower.
            request_body {
                max_size \(limits.uploadByteCountMax)
            }

            # For your own network only.
            @internal {
                path /metrics /metrics/* /livez /livez/* /readyz /readyz/*
                not remote_ip private_ranges
            }
            respond @internal 403

            # The service takes the client's address from X-Forwarded-For, which Caddy sets, with
            # --trusted-proxy 127.0.0.1.
            reverse_proxy 127.0.0.1:\(port) {
                transport http {
                    response_header_timeout \(answerSeconds)s
                }
            }
        }

        """
    }
}
