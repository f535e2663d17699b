/// Values that skills have worked out about one kernel, kept as long as the context they are for.
#pragma once

#include "skills/base/cursor.h"

#include <map>
#include <memory>
#include <tuple>
#include <typeindex>

namespace kernelskill::skills {

/// Makes each value once, when it is first asked for. A value is found again by its type and by
/// all that it was made from: the skill, the cursor and what the compiler said. For one thread.
class HeldValues {
public:
    /// The reference is valid as long as this object. With a null `skill`, all skills share the
    /// value, at every cursor. Whoever gets the value counts as having asked the questions about
    /// the cursor that were asked to make it.
    template <typename Value, typename Make>
    const Value& value(const void* skill, const Cursor& cursor, const void* compiled,
                       const Make& make) {
        const analysis::Span at = skill == nullptr ? analysis::Span{} : cursor.span_;
        Held& held = values_[{typeid(Value), skill, at.begin, at.end, compiled}];
        if (held.value != nullptr) {
            cursor.noteAlike(held.alike);
        } else {
            const AlikeCursors earlier = cursor.takeAlike();
            held.value = std::make_shared<const Value>(make());
            held.alike = cursor.alike();
            cursor.noteAlike(earlier);
        }
        return *static_cast<const Value*>(held.value.get());
    }

private:
    using Key = std::tuple<std::type_index, const void*, std::uint32_t, std::uint32_t, const void*>;
    struct Held {
        std::shared_ptr<const void> value;
        AlikeCursors alike; ///< The cursors at which it would have been the same.
    };
    std::map<Key, Held> values_;
};

} // namespace kernelskill::skills
