#include "lsp-server/supervisor/session_record.h"

#include "analysis/source/json.h"
#include "analysis/source/json_reading.h"
#include "lsp-server/documents/incremental_sync.h"
#include "lsp-server/protocol/client_capabilities.h"
#include "lsp-server/protocol/language_features.h"
#include "lsp-server/protocol/text_document.h"
#include "lsp-server/transport/message_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

// Ids of requests that the supervisor makes; no client's look like these.
constexpr std::string_view initializeId = "kernelskill/initialize";
constexpr std::string_view probeId = "kernelskill/probe";

Outbox toServer(std::string_view body) {
    return {{std::string(body)}, {}};
}
Outbox toClient(std::string_view body) {
    return {{}, {std::string(body)}};
}

std::string methodOf(const json& message) {
    const auto method = message.find("method");
    return method != message.end() && method->is_string() ? method->get<std::string>() : "";
}

const json& paramsOf(const json& message) {
    static const json empty = json::object();
    const auto params = message.find("params");
    return params != message.end() && params->is_object() ? *params : empty;
}

/// The document that a request is about; empty: none.
std::string documentOf(const json& params) {
    const auto document = params.find("textDocument");
    if (document == params.end() || !document->is_object())
        return "";
    const auto uri = document->find("uri");
    return uri != document->end() && uri->is_string() ? uri->get<std::string>() : "";
}

std::string notification(std::string_view method, json params) {
    return encodeMessage({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

std::string request(std::string_view id, std::string_view method, json params) {
    return encodeMessage({{"jsonrpc", "2.0"},
                          {"id", std::string(id)},
                          {"method", method},
                          {"params", std::move(params)}});
}

std::string showWarning(const std::string& text) {
    return notification("window/showMessage", {{"type", 2}, {"message", text}});
}

std::string fileName(const std::string& uri) {
    return std::filesystem::path(uri).filename().string();
}

/// The prefix of the ids that a client sees of requests of the server that was started as the
/// `restarts`th.
std::string idPrefix(std::size_t restarts) {
    return fmt::format("restart{}/", restarts);
}

} // namespace

Outbox SessionRecord::fromClient(const json& message, std::string_view body) {
    if (!message.is_object())
        return toServer(body);
    try {
        if (methodOf(message).empty())
            return responseOfClient(message, body);
        return message.contains("id") ? requestOfClient(message, body)
                                      : notificationOfClient(message, body);
    } catch (const json::exception&) {
        return toServer(body); // The server says what is wrong with it.
    }
}

Outbox SessionRecord::requestOfClient(const json& message, std::string_view body) {
    const std::string method = methodOf(message);
    const std::string uri = documentOf(paramsOf(message));
    const Document* document = find(uri);
    if (document != nullptr && document->state != Document::State::Open)
        return toClient(encodeMessage(responseMessage(
            message.at("id"),
            std::unexpected(ResponseError{
                ErrorCode::RequestFailed,
                fmt::format("{} is left out: kernelskill crashed on it", fileName(uri))}))));
    if (method == "initialize" && initialize_.is_null()) {
        initialize_ = message;
        if (const auto capabilities = paramsOf(message).find("capabilities");
            capabilities != paramsOf(message).end() && capabilities->is_object())
            encoding_ = capabilities->get<ClientCapabilities>().positionEncoding;
    }
    pending_[message.at("id").dump()] = {method, uri};
    if (!isResuming_)
        return toServer(body);
    delayed_.emplace_back(body);
    return {};
}

Outbox SessionRecord::notificationOfClient(const json& message, std::string_view body) {
    const std::string method = methodOf(message);
    if (method == "exit")
        isEnding_ = true;
    else if (method == "initialized")
        initialized_ = body;
    else if (method == "workspace/didChangeConfiguration")
        configuration_ = body;
    else if (method == "workspace/didChangeWorkspaceFolders")
        folderChanges_.emplace_back(body);
    else if (method.starts_with("textDocument/did")) {
        const std::string uri = documentOf(paramsOf(message));
        const bool wasHeld = find(uri) != nullptr && find(uri)->state == Document::State::Held;
        const bool passes = noteDocument(method, paramsOf(message));
        Outbox out;
        if (passes && !isResuming_)
            out.toServer.emplace_back(body);
        if (wasHeld && !isResuming_)
            openNext(out);
        return out;
    } else if (isResuming_) {
        delayed_.emplace_back(body);
        return {};
    }
    // A server that is being started gets the kept messages once it is initialised.
    return isResuming_ && method != "exit" ? Outbox{} : toServer(body);
}

bool SessionRecord::noteDocument(const std::string& method, const json& params) {
    if (method == "textDocument/didOpen") {
        const auto item = params.at("textDocument").get<TextDocumentItem>();
        Document& document = documents_[item.uri];
        document = {};
        document.languageId = item.languageId;
        document.version = item.version;
        document.text = std::make_shared<const analysis::SourceText>(item.text);
        return true;
    }
    const std::string uri = textDocumentUri(params);
    Document* document = find(uri);
    if (document == nullptr)
        return true;
    const bool isOpen = document->state == Document::State::Open;
    if (method == "textDocument/didClose") {
        documents_.erase(uri);
        std::erase(waiting_, uri);
    } else if (method == "textDocument/didChange") {
        const auto change = params.get<DidChangeTextDocumentParams>();
        document->text = applyContentChanges(document->text, change.contentChanges, encoding_);
        document->version = change.version.value_or(document->version);
        document->isSettled = false;
        if (document->state == Document::State::Held) {
            document->state = Document::State::Waiting;
            waiting_.push_back(uri);
        }
    }
    return isOpen;
}

Outbox SessionRecord::responseOfClient(const json& message, std::string_view body) const {
    if (restarts_ == 0)
        return toServer(body);
    // Nobody waits any more for the answer to an earlier server's request.
    const auto id = message.find("id");
    if (id == message.end() || !id->is_string())
        return {};
    const std::string text = id->get<std::string>();
    const std::string prefix = idPrefix(restarts_);
    if (!text.starts_with(prefix))
        return {};
    std::int64_t own = 0;
    std::from_chars(text.data() + prefix.size(), text.data() + text.size(), own);
    json answered = message;
    answered["id"] = own;
    return toServer(encodeMessage(answered));
}

Outbox SessionRecord::fromServer(const json& message, std::string_view body) {
    if (!message.is_object())
        return toClient(body);
    const auto id = message.find("id");
    if (id != message.end() && message.contains("method"))
        return requestOfServer(message, body);
    if (id == message.end()) {
        noteOfServer(message);
        return toClient(body);
    }
    Outbox out;
    if (*id == initializeId) {
        resume(out);
        return out;
    }
    if (*id == probeId) {
        settle(std::exchange(probed_, ""));
        openNext(out);
        return out;
    }
    if (const auto answered = pending_.extract(id->dump())) {
        settle(answered.mapped().uri);
        if (answered.mapped().method == "initialize" && message.contains("result"))
            isInitialized_ = true;
        if (answered.mapped().method == "shutdown" && message.contains("result"))
            isEnding_ = true;
    }
    out.toClient.emplace_back(body);
    return out;
}

Outbox SessionRecord::requestOfServer(const json& message, std::string_view body) {
    if (restarts_ == 0) {
        hasRegistered_ |= methodOf(message) == "client/registerCapability";
        return toClient(body);
    }
    // The client has them still from the first server.
    if (methodOf(message) == "client/registerCapability" && std::exchange(hasRegistered_, true))
        return toServer(encodeMessage(responseMessage(message.at("id"), json(nullptr))));
    json renamed = message;
    renamed["id"] = idPrefix(restarts_) + message.at("id").dump();
    return toClient(encodeMessage(renamed));
}

void SessionRecord::noteOfServer(const json& message) {
    const std::string method = methodOf(message);
    const json& params = paramsOf(message);
    if (method == "textDocument/publishDiagnostics") {
        const std::string uri = params.value("uri", "");
        const Document* document = find(uri);
        const auto version = analysis::integerIn<int>(params, "version");
        if (document != nullptr && (!version || *version >= document->version))
            settle(uri);
    } else if (method == "$/progress" && params.contains("token")) {
        const json value = params.value("value", json::object());
        const std::string kind = value.is_object() ? value.value("kind", "") : "";
        if (kind == "begin")
            progress_.insert(params.at("token").dump());
        else if (kind == "end")
            progress_.erase(params.at("token").dump());
    }
}

Outbox SessionRecord::afterCrash(std::string_view how) {
    Outbox out;
    std::set<std::string> suspects;
    for (const auto& [id, request] : pending_)
        if (find(request.uri) != nullptr)
            suspects.insert(request.uri);
    for (const auto& [uri, document] : documents_)
        if (document.state == Document::State::Open && !document.isSettled)
            suspects.insert(uri);
    const std::string culprit = std::exchange(probed_, "");
    std::string names;
    for (const std::string& uri : suspects)
        names += (names.empty() ? " while it read " : ", ") + fileName(uri);
    if (Document* document = find(culprit); document != nullptr) {
        document->state = Document::State::Held;
        suspects.erase(culprit);
        out.toClient.push_back(showWarning(
            fmt::format("kernelskill crashed again on {} ({}). It leaves that file out until its "
                        "text changes.",
                        fileName(culprit), how)));
        out.toClient.push_back(notification(
            "textDocument/publishDiagnostics",
            {{"uri", culprit},
             {"diagnostics",
              json::array({Diagnostic{{},
                                      DiagnosticSeverity::Warning,
                                      "",
                                      "",
                                      "kernelskill crashes on this text and leaves it out until "
                                      "it changes",
                                      {}}})}}));
    } else {
        out.toClient.push_back(showWarning(
            fmt::format("kernelskill crashed{} ({}) and has started again.", names, how)));
    }
    for (const std::string& uri : suspects)
        if (Document& document = documents_.at(uri); document.state == Document::State::Open) {
            document.state = Document::State::Waiting;
            waiting_.push_back(uri);
        }
    for (const std::string& token : std::exchange(progress_, {}))
        out.toClient.push_back(notification(
            "$/progress", {{"token", json::parse(token)}, {"value", {{"kind", "end"}}}}));
    for (const auto& [id, request] : std::exchange(pending_, {})) {
        if (request.method == "initialize" && !isInitialized_) {
            pending_[id] = request; // The new server answers it.
            continue;
        }
        const bool isAboutText = request.method.starts_with("textDocument/");
        out.toClient.push_back(encodeMessage(responseMessage(
            json::parse(id),
            std::unexpected(ResponseError{
                isAboutText ? ErrorCode::ContentModified : ErrorCode::RequestFailed,
                fmt::format("kernelskill crashed ({}) and has started again", how)}))));
    }
    ++restarts_;
    delayed_.clear();
    if (initialize_.is_null())
        return out;
    json again = initialize_;
    if (isInitialized_) {
        again["id"] = std::string(initializeId);
        isResuming_ = true;
    }
    out.toServer.push_back(encodeMessage(again));
    return out;
}

void SessionRecord::resume(Outbox& out) {
    isResuming_ = false;
    for (const std::string& body : {initialized_, configuration_})
        if (!body.empty())
            out.toServer.emplace_back(body);
    out.toServer.insert(out.toServer.end(), folderChanges_.begin(), folderChanges_.end());
    for (auto& [uri, document] : documents_)
        if (document.state == Document::State::Open) {
            document.isSettled = false;
            out.toServer.push_back(openMessage(uri));
        }
    for (std::string& body : std::exchange(delayed_, {}))
        out.toServer.push_back(std::move(body));
    openNext(out);
}

void SessionRecord::openNext(Outbox& out) {
    if (!probed_.empty() || waiting_.empty())
        return;
    probed_ = waiting_.front();
    waiting_.pop_front();
    Document& document = documents_.at(probed_);
    document.state = Document::State::Open;
    document.isSettled = false;
    out.toServer.push_back(openMessage(probed_));
    // Answered when the text has been read; lenses take a look at all of its kernels.
    out.toServer.push_back(
        request(probeId, "textDocument/codeLens", {{"textDocument", {{"uri", probed_}}}}));
}

void SessionRecord::settle(const std::string& uri) {
    if (Document* document = find(uri); document != nullptr)
        document->isSettled = true;
}

std::string SessionRecord::openMessage(const std::string& uri) const {
    const Document& document = documents_.at(uri);
    return notification("textDocument/didOpen", {{"textDocument",
                                                  {{"uri", uri},
                                                   {"languageId", document.languageId},
                                                   {"version", document.version},
                                                   {"text", document.text->text()}}}});
}

SessionRecord::Document* SessionRecord::find(const std::string& uri) {
    const auto document = documents_.find(uri);
    return document == documents_.end() ? nullptr : &document->second;
}

} // namespace kernelskill::lsp
