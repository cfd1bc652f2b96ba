// The part of godot-cpp that the example in README.md uses, so that its types and calls can be checked without Godot.
#include <cstddef>
#include <cstdint>
#include <vector>

#define GDCLASS(own, base)
#define D_METHOD(...) 0
#define ERR_PRINT(text) static_cast<void>(text)

struct RefCounted {};

struct PackedByteArray {
    std::vector<uint8_t> data;
    const uint8_t *ptr() const { return data.data(); }
    uint8_t *ptrw() { return data.data(); }
    int64_t size() const { return int64_t(data.size()); }
    int64_t resize(int64_t size) { return data.resize(std::size_t(size)), 0; }
};

struct ClassDB {
    template <class Method> static void bind_method(int, Method) {}
};
