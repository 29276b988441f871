// The small web server of mercer studio: for one person, on this machine alone.
//
// Rules, each with a test in tests/studio: it listens on the loopback interface; whoever has the
// token of the address printed gets a cookie for it, and nothing is answered without; Host must be
// this server's own (a foreign name that was made to point here is refused); requests that change
// something must come from its own page (Origin) and be JSON; no other origin may read answers;
// pages may load from here alone; bodies, connections and idle time have limits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace mercer::studio {

struct Request {
    std::string method{};  ///< GET or POST
    std::string path{};    ///< "/api/state"
    std::string body{};    ///< of POST
    /// Value of "?name=…", empty where there is none.
    std::function<std::string(const char* name)> query{};
};

struct Answer {
    unsigned status = 200;
    std::string type = "application/json";
    std::string body{};
    std::string file_name{};  ///< of a download; empty: none
    /// Events as long as the page listens: called again and again, returns what to send next, waits
    /// where there is nothing, at most a few seconds, and then may return a comment.
    std::function<std::string()> stream{};
};

using Handler = std::function<Answer(const Request&)>;

struct ServerSettings {
    std::uint16_t port = 0;  ///< 0: any that is free
    std::size_t largest_body = std::size_t{64} << 20;
    unsigned connections = 24;
    unsigned idle_seconds = 30;
};

class Server {
   public:
    /// Begins to listen. Throws std::runtime_error, saying what is missing, where it cannot.
    Server(const ServerSettings& settings, Handler handler);
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server();

    std::uint16_t port() const;
    /// With the token: to be opened once, by whoever reads it.
    std::string address() const;

    struct State;

   private:
    std::unique_ptr<State> state_;
};

}  // namespace mercer::studio
