/// Keeps what a server has to be told that takes the place of one that crashed.
#pragma once

#include "analysis/source/json.h"
#include "analysis/source/source_text.h"
#include "lsp-server/protocol/position.h"

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::lsp {

/// Encoded messages, in the order in which they leave.
struct Outbox {
    std::vector<std::string> toServer;
    std::vector<std::string> toClient;
};

/// Follows the conversation of a client with its server.
///
/// After a crash, requests under way are answered with errors, and progress that was shown ends.
/// The new server is initialised like the old one, and gets the documents as they are now. Those
/// that the old one may have crashed on (parsed since their last change without an answer yet, or
/// named by a request under way) are opened one by one. If the server crashes on one of them again,
/// that document is held back until its text changes.
class SessionRecord {
public:
    /// A message from the client, as parsed and as text. Returns what goes where instead.
    [[nodiscard]] Outbox fromClient(const nlohmann::json& message, std::string_view body);
    /// The same of a message from the server.
    [[nodiscard]] Outbox fromServer(const nlohmann::json& message, std::string_view body);
    /// The server has ended without having been told to; `how` says how: "signal 11". The next
    /// messages go to a new one.
    [[nodiscard]] Outbox afterCrash(std::string_view how);

    /// Whether the server has been told to end.
    [[nodiscard]] bool isEnding() const { return isEnding_; }

private:
    struct Document {
        /// Waiting: opened again once those before it have been read. Held: crashed twice.
        enum class State { Open, Waiting, Held } state = State::Open;
        std::string languageId;
        int version = 0;
        std::shared_ptr<const analysis::SourceText> text;
        bool isSettled = false; ///< The server has answered since the last change.
    };
    struct Request {
        std::string method;
        std::string uri; ///< The document that it names; may be empty.
    };

    [[nodiscard]] Outbox requestOfClient(const nlohmann::json& message, std::string_view body);
    [[nodiscard]] Outbox notificationOfClient(const nlohmann::json& message, std::string_view body);
    [[nodiscard]] Outbox responseOfClient(const nlohmann::json& message,
                                          std::string_view body) const;
    [[nodiscard]] Outbox requestOfServer(const nlohmann::json& message, std::string_view body);
    /// Returns whether the notification is to be passed on to the server.
    [[nodiscard]] bool noteDocument(const std::string& method, const nlohmann::json& params);
    void noteOfServer(const nlohmann::json& message);
    /// Brings a new server, which has just been initialised, to where the old one was.
    void resume(Outbox& out);
    /// Opens the next document that waits, and asks something about it.
    void openNext(Outbox& out);
    void settle(const std::string& uri);
    [[nodiscard]] std::string openMessage(const std::string& uri) const;
    [[nodiscard]] Document* find(const std::string& uri);

    nlohmann::json initialize_; ///< The client's request; null before it.
    bool isInitialized_ = false;
    bool isEnding_ = false;
    bool isResuming_ = false; ///< Between a crash and the new server's answer to initialize.
    std::size_t restarts_ = 0;
    PositionEncoding encoding_ = PositionEncoding::Utf16;
    std::string initialized_;                   ///< The client's notifications; empty before them.
    std::string configuration_;                 ///< The latest.
    std::vector<std::string> folderChanges_;    ///< All of them.
    std::map<std::string, Document> documents_; ///< The key is the URI.
    std::map<std::string, Request> pending_;    ///< The client's requests by their ids, as JSON.
    std::set<std::string> progress_;            ///< Tokens that have begun, as JSON.
    std::vector<std::string> delayed_;          ///< Messages for the new server.
    std::deque<std::string> waiting_;           ///< Documents in Waiting, by URI.
    std::string probed_; ///< The document that was opened last of those; empty: none.
    bool hasRegistered_ = false;
};

} // namespace kernelskill::lsp
