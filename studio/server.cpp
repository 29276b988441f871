#include "studio/server.hpp"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/random.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace mercer::studio {
namespace {

/// libmicrohttpd is opened when a studio is, so that no other command waits for it and what it
/// stands on.
class Library {
   public:
    static const Library& get() {
        static const Library library;
        return library;
    }
    template <class Pointer>
    Pointer function(const char* name) const {
        void* const found = dlsym(handle_, name);
        if (found == nullptr) throw std::runtime_error(std::string("libmicrohttpd has no ") + name);
        return reinterpret_cast<Pointer>(found);
    }

   private:
    Library() : handle_(dlopen(MERCER_MICROHTTPD_LIBRARY, RTLD_NOW | RTLD_LOCAL)) {
        if (handle_ == nullptr) {
            throw std::runtime_error(
                "mercer studio needs libmicrohttpd (Debian: apt-get install libmicrohttpd12, or "
                "libmicrohttpd12t64): " +
                std::string(dlerror()));
        }
    }
    void* handle_;
};
#define MERCER_HTTP(name) (Library::get().function<decltype(&::name)>(#name))

/// 128 random bits as 32 hexadecimal digits.
std::string fresh_token() {
    std::array<unsigned char, 16> bytes{};
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        throw std::runtime_error("the system gives no random numbers for a token");
    }
    std::string text;
    for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
    return text;
}

/// Takes the same time wherever the first difference lies.
bool same_secret(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
    }
    return difference == 0;
}

/// One request while its body arrives.
struct Arriving {
    std::string body{};
    bool too_large = false;
};

Answer plain(unsigned status, const std::string& message) {
    return {.status = status, .type = "text/plain; charset=utf-8", .body = message + '\n'};
}

}  // namespace

struct Server::State {
    ServerSettings settings{};
    Handler handler{};
    std::string token = fresh_token();
    std::atomic<std::uint16_t> port = 0;
    MHD_Daemon* daemon = nullptr;

    std::string cookie_name() const { return fmt::format("mercer_studio_{}", port.load()); }
    std::string header(MHD_Connection* connection, const char* name) const {
        const char* const value =
            MERCER_HTTP(MHD_lookup_connection_value)(connection, MHD_HEADER_KIND, name);
        return value == nullptr ? "" : value;
    }
    std::string query(MHD_Connection* connection, const char* name) const {
        const char* const value =
            MERCER_HTTP(MHD_lookup_connection_value)(connection, MHD_GET_ARGUMENT_KIND, name);
        return value == nullptr ? "" : value;
    }
    bool own_host(const std::string& host) const {
        return host == fmt::format("127.0.0.1:{}", port.load()) ||
               host == fmt::format("localhost:{}", port.load());
    }
    bool has_cookie(MHD_Connection* connection) const {
        const char* const value = MERCER_HTTP(MHD_lookup_connection_value)(
            connection, MHD_COOKIE_KIND, cookie_name().c_str());
        return value != nullptr && same_secret(value, token);
    }
    /// What is wrong with a request before its body is looked at; 0: nothing.
    unsigned refusal(MHD_Connection* connection, std::string_view method, std::string& why) const {
        const std::string host = header(connection, MHD_HTTP_HEADER_HOST);
        if (!own_host(host)) {
            why = "this server answers to 127.0.0.1 and localhost only";
            return 403;
        }
        if (method != "GET" && method != "POST") {
            why = "GET and POST only";
            return 405;
        }
        if (method == "GET" && !query(connection, "token").empty()) return 0;  // looked at later
        if (!has_cookie(connection)) {
            why = "open the address that 'mercer studio' printed: it holds the key";
            return 403;
        }
        if (method == "GET") return 0;
        if (header(connection, "Origin") != "http://" + host) {
            why = "requests come from the studio's own page";
            return 403;
        }
        const std::string type = header(connection, MHD_HTTP_HEADER_CONTENT_TYPE);
        if (type != "application/json" && !type.starts_with("application/json;")) {
            why = "bodies are application/json";
            return 415;
        }
        const std::string length = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
        if (length.size() > 18 || (!length.empty() && std::strtoull(length.c_str(), nullptr, 10) >
                                                          settings.largest_body)) {
            why = fmt::format("a body has at most {} bytes", settings.largest_body);
            return 413;
        }
        return 0;
    }
    MHD_Result send(MHD_Connection* connection, Answer answer,
                    const std::string& cookie = {}) const;
    MHD_Result answer(MHD_Connection* connection, std::string_view method, const char* url,
                      Arriving& arriving) const;
};

namespace {

struct Stream {
    std::function<std::string()> next;
    std::string waiting{};
};

ssize_t read_stream(void* data, std::uint64_t /*position*/, char* buffer, std::size_t most) {
    auto& stream = *static_cast<Stream*>(data);
    try {
        if (stream.waiting.empty()) stream.waiting = stream.next();
    } catch (const std::exception&) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (stream.waiting.empty()) return MHD_CONTENT_READER_END_OF_STREAM;
    const std::size_t count = std::min(most, stream.waiting.size());
    std::memcpy(buffer, stream.waiting.data(), count);
    stream.waiting.erase(0, count);
    return static_cast<ssize_t>(count);
}

void free_stream(void* data) {
    delete static_cast<Stream*>(data);
}

MHD_Result take(void* self, MHD_Connection* connection, const char* url, const char* method,
                const char* /*version*/, const char* data, std::size_t* size, void** own) {
    const auto& state = *static_cast<const Server::State*>(self);
    try {
        if (*own == nullptr) {
            std::string why;
            const unsigned refused = state.refusal(connection, method, why);
            if (refused != 0) return state.send(connection, plain(refused, why));
            *own = new Arriving;
            return MHD_YES;
        }
        auto& arriving = *static_cast<Arriving*>(*own);
        if (*size > 0) {
            // What comes in pieces says no length beforehand.
            arriving.too_large |= arriving.body.size() + *size > state.settings.largest_body;
            if (!arriving.too_large) arriving.body.append(data, *size);
            *size = 0;
            return MHD_YES;
        }
        return state.answer(connection, method, url, arriving);
    } catch (const std::exception& error) {
        return state.send(connection, plain(500, error.what()));
    }
}

void done(void* /*self*/, MHD_Connection* /*connection*/, void** own,
          MHD_RequestTerminationCode /*how*/) {
    delete static_cast<Arriving*>(*own);
    *own = nullptr;
}

}  // namespace

MHD_Result Server::State::send(MHD_Connection* connection, Answer answer,
                               const std::string& cookie) const {
    MHD_Response* response = nullptr;
    if (answer.stream) {
        response = MERCER_HTTP(MHD_create_response_from_callback)(
            MHD_SIZE_UNKNOWN, 4096, read_stream, new Stream{std::move(answer.stream)}, free_stream);
    } else {
        response = MERCER_HTTP(MHD_create_response_from_buffer)(
            answer.body.size(), answer.body.data(), MHD_RESPMEM_MUST_COPY);
    }
    if (response == nullptr) return MHD_NO;
    const auto add = [&](const char* name, const std::string& value) {
        MERCER_HTTP(MHD_add_response_header)(response, name, value.c_str());
    };
    add("Content-Type", answer.type);
    add("Content-Security-Policy",
        "default-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; "
        "form-action 'none'");
    add("X-Content-Type-Options", "nosniff");
    add("Referrer-Policy", "no-referrer");
    add("Cross-Origin-Resource-Policy", "same-origin");
    add("Cache-Control", "no-store");
    if (!answer.file_name.empty()) {
        add("Content-Disposition", "attachment; filename=\"" + answer.file_name + "\"");
    }
    if (!cookie.empty()) {
        add("Set-Cookie", cookie);
        add("Location", "/");
    }
    const MHD_Result result = MERCER_HTTP(MHD_queue_response)(connection, answer.status, response);
    MERCER_HTTP(MHD_destroy_response)(response);
    return result;
}

MHD_Result Server::State::answer(MHD_Connection* connection, std::string_view method,
                                 const char* url, Arriving& arriving) const {
    if (arriving.too_large) {
        return send(connection,
                    plain(413, fmt::format("a body has at most {} bytes", settings.largest_body)));
    }
    const std::string given = method == "GET" ? query(connection, "token") : "";
    if (!given.empty()) {
        if (!same_secret(given, token))
            return send(connection, plain(403, "this key fits no more"));
        // From now on the cookie opens; the address with the key leaves the history's last place.
        return send(connection, plain(303, "see /"),
                    fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", cookie_name(), token));
    }
    const Request request{.method = std::string(method),
                          .path = url,
                          .body = std::move(arriving.body),
                          .query = [&](const char* name) { return query(connection, name); }};
    return send(connection, handler(request));
}

Server::Server(const ServerSettings& settings, Handler handler)
    : state_(std::make_unique<State>()) {
    state_->settings = settings;
    state_->handler = std::move(handler);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(settings.port);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // A connection has a thread: events may wait, and a slow reader keeps nobody else waiting.
    state_->daemon = MERCER_HTTP(MHD_start_daemon)(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL,
        settings.port, nullptr, nullptr, &take, state_.get(), MHD_OPTION_SOCK_ADDR,
        reinterpret_cast<sockaddr*>(&place), MHD_OPTION_NOTIFY_COMPLETED, &done, nullptr,
        MHD_OPTION_CONNECTION_LIMIT, settings.connections, MHD_OPTION_CONNECTION_TIMEOUT,
        settings.idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, std::size_t{65536},
        MHD_OPTION_END);
    if (state_->daemon == nullptr) {
        throw std::runtime_error(
            fmt::format("cannot listen on 127.0.0.1:{}: {}; --port 0 takes any "
                        "port that is free",
                        settings.port, std::strerror(errno)));
    }
    const MHD_DaemonInfo* const info =
        MERCER_HTTP(MHD_get_daemon_info)(state_->daemon, MHD_DAEMON_INFO_BIND_PORT);
    state_->port = info != nullptr ? info->port : settings.port;
}

Server::~Server() {
    if (state_->daemon != nullptr) MERCER_HTTP(MHD_stop_daemon)(state_->daemon);
}

std::uint16_t Server::port() const {
    return state_->port;
}

std::string Server::address() const {
    return fmt::format("http://127.0.0.1:{}/?token={}", state_->port.load(), state_->token);
}

}  // namespace mercer::studio
