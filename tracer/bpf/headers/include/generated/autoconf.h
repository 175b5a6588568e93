/* bcc asks for this file and needs nothing of it. */
#pragma once
