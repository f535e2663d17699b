#include "lsp-server/server/trust_gate.h"

#include "analysis/source/json.h"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <utility>

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

constexpr std::chrono::minutes patience{1};
constexpr const char* yes = "Trust";
constexpr const char* no = "Not now";

std::string refusalOf(const std::filesystem::path& folder, ClientTrust said) {
    const std::string what =
        fmt::format("the folder {} is not trusted, so its kernels are neither compiled nor run",
                    folder.string());
    if (said == ClientTrust::NotTrusted)
        return what + ": trust it in the editor";
    return fmt::format("{}: run `kernelskill trust {}`, or let the editor say that it is trusted "
                       "(\"trusted\": true in initializationOptions)",
                       what, folder.string());
}

} // namespace

TrustGate::TrustGate(EventLoop& loop, Connection& connection, Workspace& workspace,
                     std::function<void()> onTrusted)
    : loop_(loop), connection_(connection), workspace_(workspace),
      onTrusted_(std::move(onTrusted)) {}

void TrustGate::whenTrusted(const std::filesystem::path& file, Waiting then) {
    if (workspace_.isTrusted(file))
        return then(std::nullopt);
    const auto folder = workspace_.trustedUnit(file);
    const bool mayAsk =
        workspace_.clientTrust() == ClientTrust::Unsaid && !refused_.contains(folder);
    if (!mayAsk)
        return then(refusalOf(folder, workspace_.clientTrust()));
    const bool isNew = !open_.contains(folder);
    Question& question = open_[folder];
    question.waiting.push_back(std::move(then));
    question.patience = loop_.after(
        patience, [this, folder] { release(folder, refusalOf(folder, ClientTrust::Unsaid)); });
    if (isNew)
        ask(folder);
}

void TrustGate::ask(const std::filesystem::path& folder) {
    connection_.request(
        "window/showMessageRequest",
        {{"type", 3},
         {"message", fmt::format("KernelSkill compiles and runs kernels of this folder in a "
                                 "sandbox to check its edits. Trust {}?",
                                 folder.string())},
         {"actions", json::array({{{"title", yes}}, {{"title", no}}})}},
        [this, folder](const auto& answer) {
            answered(folder, answer && answer->is_object() && answer->contains("title") &&
                                 answer->at("title") == yes);
        });
}

void TrustGate::answered(const std::filesystem::path& folder, bool isYes) {
    if (!isYes) {
        refused_.insert(folder);
        release(folder, refusalOf(folder, ClientTrust::Unsaid));
        open_.erase(folder);
        return;
    }
    if (const auto kept = workspace_.trust(folder); !kept)
        connection_.notify("window/showMessage",
                           {{"type", 2},
                            {"message", "The folder is trusted until the server ends: " +
                                            kept.error().describe()}});
    onTrusted_();
    release(folder, std::nullopt);
    open_.erase(folder);
}

void TrustGate::release(const std::filesystem::path& folder,
                        const std::optional<std::string>& refusal) {
    const auto found = open_.find(folder);
    if (found == open_.end())
        return;
    found->second.patience.cancel();
    for (Waiting& then : std::exchange(found->second.waiting, {}))
        then(refusal);
}

} // namespace kernelskill::lsp
