#include "engine/proof/work_match.h"

#include "engine/proof/proof.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <map>

namespace kernelskill::engine {

namespace {

/// Numbers that one thread may do, the likeliest first.
constexpr std::array<Wide, 5> widths{4, 1, 2, 8, 16};

} // namespace

std::expected<std::vector<SharedSection>, std::string> WorkMatch::find() {
    std::vector<SharedSection> all;
    for (std::size_t section = 0; section < candidate_.sections.size(); ++section) {
        if (std::ranges::none_of(candidate_.accesses, [&](const ThreadAccess& access) {
                return access.section == section;
            }))
            continue;
        std::optional<std::string> reason;
        std::optional<SharedSection> found;
        for (const Wide width : widths) {
            auto shared = matchSection(section, width);
            if (shared) {
                found = std::move(*shared);
                break;
            }
            if (!reason)
                reason = std::move(shared).error();
        }
        if (!found)
            return std::unexpected(std::move(*reason));
        all.push_back(std::move(*found));
    }
    if (auto reason = coversOnce(all))
        return std::unexpected(std::move(*reason));
    return all;
}

std::expected<SharedSection, std::string> WorkMatch::matchSection(std::size_t section, Wide width) {
    SharedSection shared;
    shared.section = section;
    const Term first =
        terms_.multiply(terms_.integer(width), candidate_.sections[section].variable);
    for (Wide k = 0; k < width; ++k) {
        auto item = original_(terms_.add(first, terms_.integer(k)));
        if (!item)
            return std::unexpected("the original has " + item.error());
        shared.items.push_back(std::move(*item));
    }
    for (std::size_t i = 0; i < candidate_.accesses.size(); ++i)
        if (candidate_.accesses[i].section == section)
            if (auto reason = matchAccess(i, shared))
                return std::unexpected(std::move(*reason));
    if (auto reason = writesAll(shared))
        return std::unexpected(std::move(*reason));
    return shared;
}

std::optional<std::string> WorkMatch::matchAccess(std::size_t index, SharedSection& shared) {
    const ThreadAccess& access = candidate_.accesses[index];
    const Facts facts = terms_.literals(access.guard);
    std::vector<SharedSection::Match>& matches = shared.matches[index];
    for (std::size_t item = 0; item < shared.items.size(); ++item) {
        const std::vector<ThreadAccess>& others = shared.items[item].trace.accesses;
        for (std::size_t i = 0; i < others.size(); ++i)
            if (others[i].isWrite == access.isWrite && others[i].address == access.address &&
                others[i].type == access.type &&
                (!access.isWrite || others[i].value == access.value))
                matches.push_back({item, i});
    }
    if (matches.empty())
        return onLine(access.isWrite ? "a write that the original may not make"
                                     : "a read that the original may not make",
                      access.line);
    const auto guardOf = [&](const SharedSection::Match& match) {
        return shared.items[match.item].trace.accesses[match.access].guard;
    };
    const auto isItem = [&](const SharedSection::Match& match) {
        return integers_.within(shared.items[match.item].number, {0, lastItem_}, facts);
    };
    if (access.isWrite) {
        if (matches.size() > 1)
            return onLine("a write that may be one of several of the original", access.line);
        if (!integers_.implies(facts, guardOf(matches.front())) || !isItem(matches.front()))
            return onLine("a write that the original may not make", access.line);
        return std::nullopt;
    }
    // Any of them; what each of them alone makes is enough to tell which items are meant.
    std::erase_if(matches, [&](const SharedSection::Match& match) {
        return !integers_.implies(facts, guardOf(match)) || !isItem(match);
    });
    return matches.empty()
               ? std::optional(onLine("a read that the original may not make", access.line))
               : std::nullopt;
}

/// Each write of an item is made, and once, wherever the section does the item.
std::optional<std::string> WorkMatch::writesAll(const SharedSection& shared) {
    const Term reached = candidate_.sections[shared.section].condition;
    for (std::size_t item = 0; item < shared.items.size(); ++item) {
        const std::vector<ThreadAccess>& accesses = shared.items[item].trace.accesses;
        for (std::size_t i = 0; i < accesses.size(); ++i) {
            if (!accesses[i].isWrite)
                continue;
            std::vector<Term> guards;
            for (const auto& [index, matches] : shared.matches)
                if (candidate_.accesses[index].isWrite && matches.front().item == item &&
                    matches.front().access == i)
                    guards.push_back(candidate_.accesses[index].guard);
            std::vector<Term> missed{accesses[i].guard, reached};
            for (std::size_t one = 0; one < guards.size(); ++one) {
                missed.push_back(terms_.negation(guards[one]));
                for (std::size_t other = 0; other < one; ++other)
                    if (!integers_.excludes({guards[one], guards[other]}))
                        return "a write may be made twice";
            }
            if (!integers_.excludes(std::move(missed)))
                return onLine("the edit may leave out the original's write", accesses[i].line);
        }
    }
    return std::nullopt;
}

/// Each number for which the original works belongs to one section.
std::optional<std::string> WorkMatch::coversOnce(const std::vector<SharedSection>& all) {
    if (all.empty())
        return "the edit does nothing";
    const bool isOwn =
        std::ranges::any_of(all, [](const SharedSection& shared) { return shared.section == 0; });
    // All numbers are those of threads.
    if (isOwn)
        return all.size() == 1 ? std::nullopt
                               : std::optional<std::string>("a thread works in a loop over the "
                                                            "grid, and outside of it");
    const Term number = terms_.symbol("any item", {0, lastItem_});
    const auto item = original_(number);
    if (!item)
        return item.error();
    std::vector<Term> places;
    std::vector<Term> reached;
    for (const SharedSection& shared : all) {
        const auto& section = candidate_.sections[shared.section];
        // The variable has any value: a number counts although no type may hold it.
        const Term variable = terms_.symbol(fmt::format("any round {}", shared.section));
        const Term lane = terms_.symbol(fmt::format("any lane {}", shared.section),
                                        {0, static_cast<Wide>(shared.items.size()) - 1});
        const Term width = terms_.integer(static_cast<Wide>(shared.items.size()));
        places.push_back(terms_.isZero(
            terms_.subtract(number, terms_.add(terms_.multiply(width, variable), lane)), {}));
        reached.push_back(terms_.substituted(section.condition, {{section.variable, variable}}));
    }
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (!integers_.excludes({places[i], places[j], reached[i], reached[j]}))
                return "two loops may do the same element";
    for (const ThreadAccess& access : item->trace.accesses) {
        std::vector<Term> missed = places;
        missed.push_back(access.guard);
        for (const Term condition : reached)
            missed.push_back(terms_.negation(condition));
        if (access.isWrite && !integers_.excludes(std::move(missed)))
            return onLine("the loops may leave out some of the original's writes", access.line);
    }
    return std::nullopt;
}

} // namespace kernelskill::engine
