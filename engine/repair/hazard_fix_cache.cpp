#include "engine/repair/hazard_fix_cache.h"

#include "engine/storage/text_hash.h"

#include <spdlog/fmt/fmt.h>

#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::size_t maxEntries = 64;

/// Moves each "line 12" of `title`, except within quotes, which contain code.
std::string moved(const std::string& title, std::int64_t lines) {
    constexpr std::string_view word = "line ";
    std::string result;
    bool isQuoted = false;
    for (std::size_t at = 0; at < title.size();) {
        if (title[at] == '\'')
            isQuoted = !isQuoted;
        const bool isLine = !isQuoted && title.compare(at, word.size(), word) == 0 &&
                            std::isdigit(static_cast<unsigned char>(title[at + word.size()])) != 0;
        if (!isLine) {
            result += title[at++];
            continue;
        }
        char* end = nullptr;
        const long long number = std::strtoll(title.c_str() + at + word.size(), &end, 10);
        result += fmt::format("{}{}", word, number + lines);
        at = static_cast<std::size_t>(end - title.c_str());
    }
    return result;
}

std::vector<HazardFix> moved(std::vector<HazardFix> fixes, KernelPlace from, KernelPlace to) {
    const std::uint32_t bytes = to.offset - from.offset; // Modulo 2^32, so it may be negative.
    for (HazardFix& fix : fixes) {
        fix.title = moved(fix.title, std::int64_t{to.line} - from.line);
        for (analysis::TextEdit& edit : fix.edits) {
            edit.span.begin += bytes;
            edit.span.end += bytes;
        }
    }
    return fixes;
}

} // namespace

std::uint64_t hazardFixKey(KernelRef kernel, const ProfileKey& profile) {
    TextHash hash;
    hash.add(profile.hash);
    if (kernel.program.model->source)
        hash.add(kernel.program.model->source->slice(kernel.kernel.span));
    return hash.value();
}

KernelPlace placeOf(KernelRef kernel) {
    const std::uint32_t line =
        kernel.program.model->source
            ? kernel.program.model->source->lineColumn(kernel.kernel.span.begin).line
            : 0;
    return {kernel.kernel.span.begin, line};
}

HazardFixes HazardFixCache::find(std::uint64_t key, KernelPlace place) {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end())
        return nullptr;
    return std::make_shared<const std::vector<HazardFix>>(moved(found->second, {}, place));
}

void HazardFixCache::insert(std::uint64_t key, KernelPlace place, std::vector<HazardFix> fixes) {
    const std::scoped_lock lock(mutex_);
    if (!entries_.insert_or_assign(key, moved(std::move(fixes), place, {})).second)
        return;
    order_.push_back(key);
    if (order_.size() > maxEntries) {
        entries_.erase(order_.front());
        order_.pop_front();
    }
}

} // namespace kernelskill::engine
