/// The instances of a kernel that launches in the text are of.
#include "analysis/model/scalar_kinds.h"
#include "engine/inputs/launch_candidates.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

namespace kernelskill::engine {

LaunchCandidates::Overrides
LaunchCandidates::madeFor(const SiteText& site,
                          const std::vector<std::string>& templateArguments) const {
    Overrides result;
    const auto& tokens = program_.files()[site.place.file].tokens;
    const Overrides cases = casesAround(site);
    for (std::size_t i = 0; i < kernel_.parameters.size() && i < site.arguments.size(); ++i) {
        const auto [begin, end] = site.arguments[i];
        const auto found =
            end == begin + 1 ? cases.find(std::string(tokens[begin].text)) : cases.end();
        if (found != cases.end())
            result.emplace(kernel_.parameters[i].name, found->second);
    }
    const auto strict = settings(false, nullptr, cases, &site);
    const HostScope scope(program_, site.place, strict);
    for (std::size_t i = 0; i < templateArguments.size(); ++i) {
        const analysis::TemplateParameter& parameter = kernel_.templateParameters.at(i);
        if (parameter.isType)
            continue;
        const std::string& text = templateArguments[i];
        std::int64_t value = text == "true" ? 1 : 0;
        const char* const last = text.data() + text.size();
        const bool isInteger = std::from_chars(text.data(), last, value).ptr == last;
        if (isInteger || text == "true" || text == "false") {
            result.emplace(parameter.name, value);
        } else if (i < site.templateArguments.size()) { // an enumerator
            const auto [begin, end] = site.templateArguments[i];
            if (const auto named = scope.value(begin, end))
                result.emplace(parameter.name, named->asInteger());
        }
    }
    return result;
}

const SiteText* LaunchCandidates::siteFor(const Overrides& arguments) const {
    const auto isCase = [&](const SiteText& site) { return !madeFor(site, {}).empty(); };
    if (kernel_.templateParameters.empty() || std::ranges::none_of(sites_, isCase))
        return nullptr;
    const auto found = std::ranges::find_if(sites_, [&](const SiteText& site) {
        return std::ranges::all_of(madeFor(site, {}), [&](const auto& value) {
            const auto passed = arguments.find(value.first);
            return passed == arguments.end() || passed->second == value.second;
        });
    });
    return found == sites_.end() ? nullptr : &*found;
}

std::vector<LaunchCandidates::SiteInstance> LaunchCandidates::instances() const {
    std::vector<SiteInstance> result;
    for (const SiteText& site : sites_) {
        SiteInstance instance{templateArguments(&site), {}, {}};
        instance.madeFor = madeFor(site, instance.templateArguments);
        const auto strict = settings(false, nullptr, casesAround(site), &site);
        const HostScope scope(program_, site.place, strict);
        const HostScope fileScope(program_, {site.place.file, site.place.token, nullptr}, strict);
        for (std::size_t i = 0; i < kernel_.parameters.size() && i < site.arguments.size(); ++i) {
            const analysis::Parameter& parameter = kernel_.parameters[i];
            const auto [begin, end] = site.arguments[i];
            if (parameter.type.pointerDepth > 0 || isFloatingScalar(parameter.type.scalar))
                continue;
            if (const auto value = scope.value(begin, end))
                instance.passed.emplace(parameter.name, value->asInteger());
            if (const auto value = fileScope.value(begin, end))
                instance.madeFor.emplace(parameter.name, value->asInteger());
        }
        result.push_back(std::move(instance));
    }
    return result;
}

} // namespace kernelskill::engine
