/* Functions that compilers assume, for shared libraries that are linked without any system's C library. */
#include <stddef.h>

void *memset(void *to, int byte, size_t bytes) {
    unsigned char *at = (unsigned char *)to;
    while (bytes-- > 0) *at++ = (unsigned char)byte;
    return to;
}

void *memcpy(void *to, const void *from, size_t bytes) {
    unsigned char *at = (unsigned char *)to;
    const unsigned char *read = (const unsigned char *)from;
    while (bytes-- > 0) *at++ = *read++;
    return to;
}

void *memmove(void *to, const void *from, size_t bytes) {
    unsigned char *at = (unsigned char *)to;
    const unsigned char *read = (const unsigned char *)from;
    if (at <= read) return memcpy(to, from, bytes);
    while (bytes-- > 0) at[bytes] = read[bytes];
    return to;
}
