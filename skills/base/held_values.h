/// Values that skills have worked out about one kernel, kept as long as the context they are for.
#pragma once

#include "analysis/source/text_edit.h"

#include <map>
#include <memory>
#include <tuple>
#include <typeindex>

namespace kernelskill::skills {

/// Makes each value once, when it is first asked for. A value is found again by its type and by
/// all that it was made from: the skill, the cursor and what the compiler said. For one thread.
class HeldValues {
public:
    struct Source {
        const void* skill = nullptr; ///< Null: the value is the same for every skill.
        analysis::Span range;
        const void* compiled = nullptr;
    };

    /// The reference is valid as long as this object.
    template <typename Value, typename Make>
    const Value& value(const Source& from, Make make) {
        std::shared_ptr<const void>& held =
            values_[{typeid(Value), from.skill, from.range.begin, from.range.end, from.compiled}];
        if (held == nullptr)
            held = std::make_shared<const Value>(make());
        return *static_cast<const Value*>(held.get());
    }

private:
    using Key = std::tuple<std::type_index, const void*, std::uint32_t, std::uint32_t, const void*>;
    std::map<Key, std::shared_ptr<const void>> values_;
};

} // namespace kernelskill::skills
