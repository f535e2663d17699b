#include "lsp-server/report/history_text.h"

#include "lsp-server/report/markdown_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace kernelskill::lsp {
namespace {

using engine::EntryKind;
using engine::MemoryEntry;

constexpr std::size_t maxLines = 12;

std::string outcome(const MemoryEntry& entry) {
    std::string text = entry.status;
    if (entry.speedup)
        text += fmt::format(", {:.2f} times as fast", *entry.speedup);
    if (entry.isKept)
        text += *entry.isKept ? ", kept" : ", dropped";
    if (entry.diagnosis)
        text += ": " + markdownText(entry.diagnosis->sentence);
    return text;
}

class HistoryTree {
public:
    explicit HistoryTree(const std::vector<MemoryEntry>& entries) {
        std::ranges::copy_if(entries, std::back_inserter(verdicts_), [](const MemoryEntry& entry) {
            return entry.kind == EntryKind::Verdict;
        });
    }

    [[nodiscard]] std::string below(std::uint64_t hash) {
        add(hash, 0);
        if (left_ > 0)
            text_ += fmt::format("- and {} more in `kernelskill memory show`\n", left_);
        return std::move(text_);
    }

    [[nodiscard]] const MemoryEntry* madeBy(std::uint64_t hash) const {
        const auto found = std::ranges::find_if(
            verdicts_.rbegin(), verdicts_.rend(), [&](const MemoryEntry& entry) {
                return entry.resultHash == hash && entry.kernelHash != hash && hash != 0;
            });
        return found == verdicts_.rend() ? nullptr : &*found;
    }

private:
    void add(std::uint64_t hash, int depth) {
        if (!shown_.insert(hash).second) // An edit and its way back are a circle.
            return;
        std::vector<const MemoryEntry*> newest;
        for (const MemoryEntry& entry : verdicts_) {
            if (entry.kernelHash != hash)
                continue;
            const auto same = std::ranges::find_if(newest, [&](const MemoryEntry* other) {
                return std::tie(other->skill, other->option) == std::tie(entry.skill, entry.option);
            });
            if (same == newest.end())
                newest.push_back(&entry);
            else
                *same = &entry;
        }
        for (const MemoryEntry* entry : newest) {
            if (lines_ == maxLines) {
                ++left_;
                continue;
            }
            ++lines_;
            text_ += fmt::format("{:{}}- `{}`: {}\n", "", 2 * depth, entry->skill, outcome(*entry));
            if (entry->resultHash != 0)
                add(entry->resultHash, depth + 1);
        }
    }

    std::vector<MemoryEntry> verdicts_; ///< Oldest first.
    std::set<std::uint64_t> shown_;
    std::string text_;
    std::size_t lines_ = 0;
    std::size_t left_ = 0;
};

} // namespace

std::string describeHistory(const std::vector<MemoryEntry>& entries, std::uint64_t kernelHash) {
    HistoryTree tree(entries);
    std::string text;
    if (const MemoryEntry* origin = tree.madeBy(kernelHash))
        text += fmt::format("- made by `{}`: {}\n", origin->skill, outcome(*origin));
    return text + tree.below(kernelHash);
}

} // namespace kernelskill::lsp
